// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%d = gnn.max_degree at target of %e : !gnn.edges<"e", "a" -> "b">
%f = gnn.max_degree at source of %e {note} : !gnn.edges<"e", "a" -> "b">

// CHECK:      %e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: %d = gnn.max_degree at target of %e : !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: %f = gnn.max_degree at source of %e {note} : !gnn.edges<"e", "a" -> "b">
