// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x, %w = "test.op"() : () -> (tensor<4x8xf32>, tensor<8x16xf32>)
%y = gnn.matmul %x, %w : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: matmul takes a value on a domain and one without, both with two or more axes

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>)
%y = gnn.matmul %x, %w : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: matmul takes a value on a domain and one without, both with two or more axes

// -----

%x, %w = "test.op"() : () -> (tensor<?xf32, #gnn.on<nodes "n">>, tensor<8x16xf32>)
%y = gnn.matmul %x, %w : tensor<?xf32, #gnn.on<nodes "n">>, tensor<8x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: matmul takes a value on a domain and one without, both with two or more axes

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>)
%y = gnn.matmul %x, %w : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: matmul takes a value on a domain and one without, both with two or more axes

// -----

%x, %w = "test.op"() : () -> (tensor<?x16xf32, #gnn.on<nodes "n">>, tensor<8x16xf32>)
%y = gnn.matmul %x, %w : tensor<?x16xf32, #gnn.on<nodes "n">>, tensor<8x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the last axis of the left side must have the right side's 8 rows

// -----

%x, %w = "test.op"() : () -> (tensor<8x?xf32, #gnn.on<nodes "n">>, tensor<8x16xf32>)
%y = gnn.matmul %x, %w : tensor<8x?xf32, #gnn.on<nodes "n">>, tensor<8x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK: the last axis of the left side must have the right side's 8 rows

// -----

%x, %w = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x16xf32>)
%y = gnn.matmul %x, %w : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x16xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the result must have shape ?x16
