// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
%all = gnn.with_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.loops", "n" -> "n">
%same = gnn.with_loops %e {note} : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.loops", "n" -> "n">

// CHECK:      %e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %all = gnn.with_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.loops", "n" -> "n">
// CHECK-NEXT: %same = gnn.with_loops %e {note} : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.loops", "n" -> "n">
