// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%m, %q, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "f">>, tensor<1x1xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate_quantile %m, %q linear fill 0.0 at target of %e : tensor<?x4xf32, #gnn.on<edges "f">>, tensor<1x1xf32>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: the messages must be on edges "e", it is on edges "f"

// -----

%m, %q, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<1x1xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate_quantile %m, %q linear fill 0.0 at source of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<1x1xf32>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: the result must be on nodes "a", it is on nodes "b"

// -----

%m, %q, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<1x1xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate_quantile %m, %q linear fill 0.0 at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<1x1xf32>, !gnn.edges<"e", "a" -> "b"> -> tensor<4x?xf32, #gnn.on<nodes "b">>
// CHECK: messages and result must have their rows on the same axis

// -----

%m, %q, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<2xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate_quantile %m, %q linear fill 0.0 at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<2xf32>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x8xf32, #gnn.on<nodes "b">>
// CHECK: the quantiles must be a matrix with one column

// -----

%m, %q, %e = "test.op"() : () -> (tensor<?xf32, #gnn.on<edges "e">>, tensor<2x1xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate_quantile %m, %q linear fill 0.0 at target of %e : tensor<?xf32, #gnn.on<edges "e">>, tensor<2x1xf32>, !gnn.edges<"e", "a" -> "b"> -> tensor<?xf32, #gnn.on<nodes "b">>
// CHECK: several quantiles need an axis after the rows to stand in

// -----

%m, %q, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<2x1xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate_quantile %m, %q linear fill 0.0 at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<2x1xf32>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: the rows of the result must have shape [8]

// -----

%m, %d, %w, %u, %e = "test.op"() : () -> (tensor<?x2x8xf32, #gnn.on<edges "e">>, index, tensor<16x8xf32>, tensor<16x4xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate_recurrent lstm layers 1 %m steps %d weights %w, %u at target of %e : tensor<?x2x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> weights tensor<16x8xf32>, tensor<16x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: a recurrent network reads rows with one axis

// -----

%m, %d, %w, %u, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<edges "e">>, index, tensor<16x8xf32>, tensor<16x4xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate_recurrent lstm layers 1 bidirectional biases %m steps %d weights %w, %u at target of %e : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> weights tensor<16x8xf32>, tensor<16x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: 2 cells need 4 weights each, there are 2

// -----

%m, %e = "test.op"() : () -> (tensor<8x?xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.list_messages %m size 2 at target of %e : tensor<8x?xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> -> tensor<2x?x8xf32, #gnn.on<nodes "b">>
// CHECK: messages that are listed are rows with one axis

// -----

%m, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.list_messages %m size 2 at target of %e : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x3x8xf32, #gnn.on<nodes "b">>
// CHECK: the rows of the result must be 2 messages
