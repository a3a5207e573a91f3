// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.concat %x axis 1 : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<4x8xf32>
// CHECK: the result must be on nodes "n", it is on no domain

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.concat %x, %x axis 0 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: values are joined along a row axis

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.concat %x, %x axis 2 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: values are joined along a row axis

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.concat %x, %x axis -1 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: values are joined along a row axis

// -----

%x = "test.op"() : () -> tensor<?x8x2xf32, #gnn.on<nodes "n">>
%y = gnn.concat %x, %x axis 1 : tensor<?x8x2xf32, #gnn.on<nodes "n">>, tensor<?x8x2xf32, #gnn.on<nodes "n">> -> tensor<?x16x3xf32, #gnn.on<nodes "n">>
// CHECK: the operands must agree on every other axis

// -----

%x = "test.op"() : () -> tensor<4x8xf32>
%y = gnn.concat %x, %x axis 1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the operands must agree on every other axis

// -----

%x = "test.op"() : () -> tensor<?xf32, #gnn.on<nodes "n">>
%y = gnn.concat %x, %x axis 1 : tensor<?xf32, #gnn.on<nodes "n">>, tensor<?xf32, #gnn.on<nodes "n">> -> tensor<?x2xf32, #gnn.on<nodes "n">>
// CHECK: the operands must agree on every other axis

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.concat %x, %x axis 1 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the operands don't add up to 8 on axis 1
