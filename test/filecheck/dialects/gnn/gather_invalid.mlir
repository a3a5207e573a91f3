// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%a, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">)
%m = gnn.gather %a at target of %e : tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<edges "e">>
// CHECK: the node value must be on nodes "b", it is on nodes "a"

// -----

%b, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b">)
%m = gnn.gather %b at source of %e : tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<edges "e">>
// CHECK: the node value must be on nodes "a", it is on nodes "b"

// -----

%a, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">)
%m = gnn.gather %a at source of %e : tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "a">>
// CHECK: the edge value must be on edges "e", it is on nodes "a"

// -----

%a, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">)
%m = gnn.gather %a at source of %e : tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x5xf32, #gnn.on<edges "e">>
// CHECK: the node value and the edge value must have rows of the same shape on the same axis

// -----

%a, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">)
%m = gnn.gather %a at source of %e : tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b"> -> tensor<4x?xf32, #gnn.on<edges "e">>
// CHECK: the node value and the edge value must have rows of the same shape on the same axis
