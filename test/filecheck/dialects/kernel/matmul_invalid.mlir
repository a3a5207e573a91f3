// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x4xf32>)
%y = kernel.update %x times %w layer 1 : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> -> tensor<4x4xf32>
// CHECK: the result must be a matrix with a row a node

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x4xf32>)
%y = kernel.update %x, %x times %w layer 1 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: a kernel needs a right side for each left side, and one product at least

// -----

%x, %w, %z = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x4xf32>, tensor<?x5xf32, #gnn.on<nodes "n">>)
%y = kernel.update %x times %w plus %z layer 1 : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> plus tensor<?x5xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: what is added must have the type of the result

// -----

%x, %w, %b = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x4xf32>, tensor<5xf32>)
%y = kernel.update %x times %w bias %b layer 1 : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> bias tensor<5xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: scale and bias must have 4 numbers

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x4xf32>)
%y = kernel.update %x times %w layer 1 densities [#gnn.density<?>] : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: there must be a density for each operand of each product

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x4xf32>)
%y = kernel.update %x times %w layer 1 scheme <n1 16 n2 16 grid 1x1 inner [1, 2]> : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: there must be an inner length for each product

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "m">>, tensor<8x4xf32>)
%y = kernel.update %x times %w layer 1 : tensor<?x8xf32, #gnn.on<nodes "m">> times tensor<8x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: an update's left side must be a matrix with a row a node of the result

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<9x4xf32>)
%y = kernel.update %x times %w layer 1 : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<9x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: the right side must be a weight with a row a column of the left

// -----

%x = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>)
%y = kernel.aggregate %x times %x layer 1 : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: an aggregation's left side must be an adjacency with a row a node of the result

// -----

%a, %x = "test.op"() : () -> (!kernel.adjacency<"n" x "m">, tensor<?x8xf32, #gnn.on<nodes "n">>)
%y = kernel.aggregate %a times %x layer 1 : !kernel.adjacency<"n" x "m"> times tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the right side must have a row a column of the left and the width of the result
