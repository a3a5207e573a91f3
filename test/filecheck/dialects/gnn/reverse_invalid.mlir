// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "a" -> "b">
// CHECK: the result must have the same edge domain and exchanged ends

// -----

%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"f", "b" -> "a">
// CHECK: the result must have the same edge domain and exchanged ends
