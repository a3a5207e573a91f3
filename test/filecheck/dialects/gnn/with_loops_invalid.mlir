// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
%r = gnn.with_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"r", "n" -> "m">
// CHECK: the edge sets must join the same node sets

// -----

%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%r = gnn.with_loops %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"r", "a" -> "b">
// CHECK: self-loops need one node set at both ends
