// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">
%same = gnn.reverse %e {note} : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">

// CHECK:      %e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: %r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">
// CHECK-NEXT: %same = gnn.reverse %e {note} : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">
