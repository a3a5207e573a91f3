// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

!e = !gnn.edges<"e", "a" -> "b">
%a, %b, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "a">>, tensor<2x?xi64, #gnn.on<nodes "b">>, !e)
%from_source = gnn.gather %a at source of %e : tensor<?x4xf32, #gnn.on<nodes "a">>, !e -> tensor<?x4xf32, #gnn.on<edges "e">>
%from_target = gnn.gather %b at target of %e {note} : tensor<2x?xi64, #gnn.on<nodes "b">>, !e -> tensor<2x?xi64, #gnn.on<edges "e">>

// CHECK:      %a, %b, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "a">>, tensor<2x?xi64, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b">)
// CHECK-NEXT: %from_source = gnn.gather %a at source of %e : tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<edges "e">>
// CHECK-NEXT: %from_target = gnn.gather %b at target of %e {note} : tensor<2x?xi64, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b"> -> tensor<2x?xi64, #gnn.on<edges "e">>
