// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%m, %i, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.scatter sum %m into %i at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">
// CHECK: the node value must be on nodes "b", it is on nodes "a"

// -----

%m, %i, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "a">>, tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.scatter sum %m into %i at target of %e : tensor<?x4xf32, #gnn.on<nodes "a">>, tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b">
// CHECK: the edge value must be on edges "e", it is on nodes "a"

// -----

%m, %i, %e = "test.op"() : () -> (tensor<?x5xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.scatter sum %m into %i at target of %e : tensor<?x5xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b">
// CHECK: the node value and the edge value must have rows of the same shape on the same axis

// -----

%m, %i, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.scatter sum %m into %i at target of %e layer 1 : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b">
// CHECK: a Conv has both a layer and a number, or neither yet
