// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#e = #gnn.on<edges "e">
!e = !gnn.edges<"e", "n" -> "n">
%s, %e = "test.op"() : () -> (tensor<?x8xf32, #e>, !e)
%a = gnn.edge_softmax %s at target of %e eps 1.0e-16 : tensor<?x8xf32, #e>, !e
%b = gnn.edge_softmax %s at source of %e eps 0.0 layer 1 conv 3 : tensor<?x8xf32, #e>, !e
%c = gnn.edge_softmax %s at target of %e eps 0.1 layer 1 conv 3 {note} : tensor<?x8xf32, #e>, !e
%d = gnn.edge_softmax %s at target of %e eps 0.1 {note} : tensor<?x8xf32, #e>, !e
%f = gnn.edge_softmax %s at target of %e eps 0.1 layer 1 conv 3 sample <fanout 1 seed 0> : tensor<?x8xf32, #e>, !e

// CHECK:      %s, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">)
// CHECK-NEXT: %a = gnn.edge_softmax %s at target of %e eps 1.000000e-16 : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %b = gnn.edge_softmax %s at source of %e eps 0.000000e+00 layer 1 conv 3 : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %c = gnn.edge_softmax %s at target of %e eps 1.000000e-01 layer 1 conv 3 {note} : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %d = gnn.edge_softmax %s at target of %e eps 1.000000e-01 {note} : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %f = gnn.edge_softmax %s at target of %e eps 1.000000e-01 layer 1 conv 3 sample <fanout 1 seed 0> : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
