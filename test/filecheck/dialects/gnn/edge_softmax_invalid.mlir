// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%s, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.edge_softmax %s at target of %e eps 0.0 : tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">
// CHECK: the scores must be on edges "e", it is on nodes "a"

// -----

%s, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">)
%y = gnn.edge_softmax %s at target of %e eps 0.0 layer 1 : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">
// CHECK: a Conv has both a layer and a number, or neither yet
