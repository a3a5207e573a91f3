// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
%i = gnn.endpoints source of %e : !gnn.edges<"e", "n" -> "n"> -> tensor<?xi64, #gnn.on<nodes "n">>
// CHECK: the result must be on edges "e", it is on nodes "n"

// -----

%e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
%i = gnn.endpoints source of %e : !gnn.edges<"e", "n" -> "n"> -> tensor<2x?xi64, #gnn.on<edges "e">>
// CHECK: the result must be a one-dimensional tensor on a domain
