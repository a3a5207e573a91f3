// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%src = gnn.endpoints source of %e : !gnn.edges<"e", "a" -> "b"> -> tensor<?xi64, #gnn.on<edges "e">>
%dst = gnn.endpoints target of %e {note} : !gnn.edges<"e", "a" -> "b"> -> tensor<?xi64, #gnn.on<edges "e">>

// CHECK:      %e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: %src = gnn.endpoints source of %e : !gnn.edges<"e", "a" -> "b"> -> tensor<?xi64, #gnn.on<edges "e">>
// CHECK-NEXT: %dst = gnn.endpoints target of %e {note} : !gnn.edges<"e", "a" -> "b"> -> tensor<?xi64, #gnn.on<edges "e">>
