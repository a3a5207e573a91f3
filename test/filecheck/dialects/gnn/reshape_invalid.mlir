// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.reshape %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<4x8xf32>
// CHECK: operand and result must be on the domain

// -----

%x = "test.op"() : () -> tensor<4x8xf32>
%y = gnn.reshape %x : tensor<4x8xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: operand and result must be on the domain

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.reshape %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: a reshape keeps the count of numbers before and after the domain axis

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.reshape %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<8x?xf32, #gnn.on<nodes "n">>
// CHECK: a reshape keeps the count of numbers before and after the domain axis
