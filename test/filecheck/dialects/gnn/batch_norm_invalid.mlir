// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x, %m = "test.op"() : () -> (tensor<4x8xf32>, tensor<?xf32, #gnn.on<nodes "n">>)
%y = gnn.batch_norm %x, %m, %m eps 0.1 : tensor<4x8xf32>, tensor<?xf32, #gnn.on<nodes "n">>, tensor<?xf32, #gnn.on<nodes "n">>
// CHECK: the input must be on nodes "n", it is on no domain

// -----

%x, %m = "test.op"() : () -> (tensor<?xf32, #gnn.on<nodes "n">>, tensor<8xf32>)
%y = gnn.batch_norm %x, %m, %m eps 0.1 : tensor<?xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32>
// CHECK: axis 1 of the input holds the channels and can't be the domain axis

// -----

%x, %m = "test.op"() : () -> (tensor<8x?xf32, #gnn.on<nodes "n">>, tensor<8xf32>)
%y = gnn.batch_norm %x, %m, %m eps 0.1 : tensor<8x?xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32>
// CHECK: axis 1 of the input holds the channels and can't be the domain axis

// -----

%x, %m = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>)
%y = gnn.batch_norm %x, %m, %m affine %m eps 0.1 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32> affine tensor<8xf32>
// CHECK: affine takes a scale and a shift

// -----

%x, %m, %q = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<4xf32>)
%y = gnn.batch_norm %x, %q, %m eps 0.1 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<4xf32>, tensor<8xf32>
// CHECK: statistics, scale and shift must have 8 numbers

// -----

%x, %m, %q = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<4xf32>)
%y = gnn.batch_norm %x, %m, %q eps 0.1 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<4xf32>
// CHECK: statistics, scale and shift must have 8 numbers

// -----

%x, %m, %q = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<4xf32>)
%y = gnn.batch_norm %x, %m, %m affine %m, %q eps 0.1 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32> affine tensor<8xf32>, tensor<4xf32>
// CHECK: statistics, scale and shift must have 8 numbers
