// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#e = #gnn.on<edges "e">
%src, %dst = "test.op"() : () -> (tensor<?xi64, #e>, tensor<?xi64, #e>)
%e = gnn.edge_set %src, %dst : tensor<?xi64, #e>, tensor<?xi64, #e> -> !gnn.edges<"e", "a" -> "b">
%f = gnn.edge_set %src, %src {note} : tensor<?xi64, #e>, tensor<?xi64, #e> -> !gnn.edges<"e", "a" -> "b">

// CHECK:      %src, %dst = "test.op"() : () -> (tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>)
// CHECK-NEXT: %e = gnn.edge_set %src, %dst : tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: %f = gnn.edge_set %src, %src {note} : tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "a" -> "b">
