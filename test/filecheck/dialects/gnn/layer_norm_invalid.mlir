// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.layer_norm %x axes 0 eps 0.1 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the normalised axes must be row axes

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.layer_norm %x axes 2 eps 0.1 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the normalised axes must be row axes

// -----

%x = "test.op"() : () -> tensor<8x?xf32, #gnn.on<nodes "n">>
%y = gnn.layer_norm %x axes 1 eps 0.1 : tensor<8x?xf32, #gnn.on<nodes "n">>
// CHECK: the normalised axes must be row axes

// -----

%x, %s = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<4xf32>)
%y = gnn.layer_norm %x affine %s axes 1 eps 0.1 : tensor<?x8xf32, #gnn.on<nodes "n">> affine tensor<4xf32>
// CHECK: scale and shift must have shape 8

// -----

%x, %s = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>)
%y = gnn.layer_norm %x affine %s, %s, %s axes 1 eps 0.1 : tensor<?x8xf32, #gnn.on<nodes "n">> affine tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// CHECK: scale and shift must have shape 8
