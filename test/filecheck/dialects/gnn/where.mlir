// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%e, %mask = "test.op"() : () -> (!gnn.edges<"e", "a" -> "b">, tensor<?xi1, #gnn.on<edges "e">>)
%some = gnn.where %e, %mask : !gnn.edges<"e", "a" -> "b">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.kept", "a" -> "b">
%same = gnn.where %e, %mask {note} : !gnn.edges<"e", "a" -> "b">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.kept", "a" -> "b">

// CHECK:      %e, %mask = "test.op"() : () -> (!gnn.edges<"e", "a" -> "b">, tensor<?xi1, #gnn.on<edges "e">>)
// CHECK-NEXT: %some = gnn.where %e, %mask : !gnn.edges<"e", "a" -> "b">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.kept", "a" -> "b">
// CHECK-NEXT: %same = gnn.where %e, %mask {note} : !gnn.edges<"e", "a" -> "b">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.kept", "a" -> "b">
