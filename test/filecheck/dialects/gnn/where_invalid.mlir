// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%e, %m = "test.op"() : () -> (!gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<edges "e">>)
%r = gnn.where %e, %m : !gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"r", "m" -> "n">
// CHECK: the edge sets must join the same node sets

// -----

%e, %m = "test.op"() : () -> (!gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<nodes "n">>)
%r = gnn.where %e, %m : !gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<nodes "n">> -> !gnn.edges<"r", "n" -> "n">
// CHECK: the mask must be on edges "e", it is on nodes "n"

// -----

%e, %m = "test.op"() : () -> (!gnn.edges<"e", "n" -> "n">, tensor<?xi64, #gnn.on<edges "e">>)
%r = gnn.where %e, %m : !gnn.edges<"e", "n" -> "n">, tensor<?xi64, #gnn.on<edges "e">> -> !gnn.edges<"r", "n" -> "n">
// CHECK: the mask must have one i1 an edge

// -----

%e, %m = "test.op"() : () -> (!gnn.edges<"e", "n" -> "n">, tensor<?x1xi1, #gnn.on<edges "e">>)
%r = gnn.where %e, %m : !gnn.edges<"e", "n" -> "n">, tensor<?x1xi1, #gnn.on<edges "e">> -> !gnn.edges<"r", "n" -> "n">
// CHECK: the mask must have one i1 an edge
