// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
%r = gnn.sampled %e at target layer 1 sample <fanout 10 seed 0> : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"r", "m" -> "n">
// CHECK: the edge sets must join the same node sets
