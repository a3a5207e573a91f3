// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x, %w = "test.op"() : () -> (tensor<4x8xf32>, tensor<16x8xf32>)
%y = gnn.linear %x, %w : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
// CHECK: a row-wise operation needs a value on a domain

// -----

%x, %w = "test.op"() : () -> (tensor<4x8xf32>, tensor<16x8xf32>)
%y = gnn.linear %x, %w : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the input must be on nodes "n", it is on no domain

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>)
%y = gnn.linear %x, %w : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the weight must be a matrix without a domain

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>)
%y = gnn.linear %x, %w : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the weight must be a matrix without a domain

// -----

%x, %w = "test.op"() : () -> (tensor<?x16xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>)
%y = gnn.linear %x, %w : tensor<?x16xf32, #gnn.on<nodes "n">>, tensor<16x8xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the last axis of the input must have the weight's 8 columns

// -----

%x, %w = "test.op"() : () -> (tensor<8x?xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>)
%y = gnn.linear %x, %w : tensor<8x?xf32, #gnn.on<nodes "n">>, tensor<16x8xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the last axis of the input must have the weight's 8 columns

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>)
%y = gnn.linear %x, %w : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the last axis of the result must have the weight's 16 rows

// -----

%x, %w, %b = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>, tensor<8xf32>)
%y = gnn.linear %x, %w, %b : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>, tensor<8xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the bias must have 16 numbers or the type of the result

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>)
%y = gnn.linear %x, %w densities [#gnn.density<?>] : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: a product has two sides, and 1 densities are given
