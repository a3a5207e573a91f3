// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%index = "test.op"() : () -> tensor<2x?xi64, #gnn.on<edges "cites">>
%e = gnn.relation %index : tensor<2x?xi64, #gnn.on<edges "cites">> -> !gnn.edges<"cites", "paper" -> "paper">
%f = gnn.relation %index {note} : tensor<2x?xi64, #gnn.on<edges "cites">> -> !gnn.edges<"cites", "a" -> "b">

// CHECK:      %index = "test.op"() : () -> tensor<2x?xi64, #gnn.on<edges "cites">>
// CHECK-NEXT: %e = gnn.relation %index : tensor<2x?xi64, #gnn.on<edges "cites">> -> !gnn.edges<"cites", "paper" -> "paper">
// CHECK-NEXT: %f = gnn.relation %index {note} : tensor<2x?xi64, #gnn.on<edges "cites">> -> !gnn.edges<"cites", "a" -> "b">
