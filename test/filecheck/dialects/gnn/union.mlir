// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%a, %b = "test.op"() : () -> (!gnn.edges<"a", "n" -> "m">, !gnn.edges<"b", "n" -> "m">)
%both = gnn.union %a, %b : !gnn.edges<"a", "n" -> "m">, !gnn.edges<"b", "n" -> "m"> -> !gnn.edges<"ab", "n" -> "m">
%same = gnn.union %a, %b {note} : !gnn.edges<"a", "n" -> "m">, !gnn.edges<"b", "n" -> "m"> -> !gnn.edges<"ab", "n" -> "m">

// CHECK:      %a, %b = "test.op"() : () -> (!gnn.edges<"a", "n" -> "m">, !gnn.edges<"b", "n" -> "m">)
// CHECK-NEXT: %both = gnn.union %a, %b : !gnn.edges<"a", "n" -> "m">, !gnn.edges<"b", "n" -> "m"> -> !gnn.edges<"ab", "n" -> "m">
// CHECK-NEXT: %same = gnn.union %a, %b {note} : !gnn.edges<"a", "n" -> "m">, !gnn.edges<"b", "n" -> "m"> -> !gnn.edges<"ab", "n" -> "m">
