// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%m, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate sum %m at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "a">>
// CHECK: the node value must be on nodes "b", it is on nodes "a"

// -----

%m, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "f">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate sum %m at target of %e : tensor<?x4xf32, #gnn.on<edges "f">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: the edge value must be on edges "e", it is on edges "f"

// -----

%m, %e = "test.op"() : () -> (tensor<4xf32>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate sum %m at target of %e : tensor<4xf32>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: the edge value must be on edges "e", it is on no domain

// -----

%m, %e = "test.op"() : () -> (tensor<4x?xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate sum %m at target of %e : tensor<4x?xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: the node value and the edge value must have rows of the same shape on the same axis

// -----

%m, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate sum %m at target of %e conv 0 : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: a Conv has both a layer and a number, or neither yet

// -----

%m, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.aggregate sum %m at target of %e sample <fanout 2 seed 0> : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "b">>
// CHECK: a sample is drawn for a layer, and this reduction has none yet
