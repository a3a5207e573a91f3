// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%a, %b = "test.op"() : () -> (!gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "a" -> "b">)
%r = gnn.union %a, %b : !gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"r", "n" -> "n">
// CHECK: the edge sets must join the same node sets

// -----

%a, %b = "test.op"() : () -> (!gnn.edges<"e", "a" -> "b">, !gnn.edges<"e", "n" -> "n">)
%r = gnn.union %a, %b : !gnn.edges<"e", "a" -> "b">, !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"r", "n" -> "n">
// CHECK: the edge sets must join the same node sets
