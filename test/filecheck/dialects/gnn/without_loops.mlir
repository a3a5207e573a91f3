// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
%kept = gnn.without_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.noloops", "n" -> "n">
%same = gnn.without_loops %e {note} : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.noloops", "n" -> "n">

// CHECK:      %e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %kept = gnn.without_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.noloops", "n" -> "n">
// CHECK-NEXT: %same = gnn.without_loops %e {note} : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.noloops", "n" -> "n">
