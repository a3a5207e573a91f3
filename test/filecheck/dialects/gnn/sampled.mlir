// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%some = gnn.sampled %e at target layer 1 sample <fanout 10 seed 0> : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e.1", "a" -> "b">
%same = gnn.sampled %e at source layer 2 sample <fanout 1 seed -3> {note} : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e.2", "a" -> "b">

// CHECK:      %e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: %some = gnn.sampled %e at target layer 1 sample <fanout 10 seed 0> : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e.1", "a" -> "b">
// CHECK-NEXT: %same = gnn.sampled %e at source layer 2 sample <fanout 1 seed -3> {note} : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e.2", "a" -> "b">
