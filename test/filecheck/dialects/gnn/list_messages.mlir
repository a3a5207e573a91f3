// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
#e = #gnn.on<edges "e">
!e = !gnn.edges<"e", "n" -> "n">
%m, %e = "test.op"() : () -> (tensor<?x8xf32, #e>, !e)
%a = gnn.list_messages %m size 3 at target of %e : tensor<?x8xf32, #e>, !e -> tensor<?x3x8xf32, #n>
%b = gnn.list_messages %m size 1 descending at source of %e layer 2 conv 1 {note} : tensor<?x8xf32, #e>, !e -> tensor<?x1x8xf32, #n>

// CHECK:      %m, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">)
// CHECK-NEXT: %a = gnn.list_messages %m size 3 at target of %e : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x3x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %b = gnn.list_messages %m size 1 descending at source of %e layer 2 conv 1 {note} : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x1x8xf32, #gnn.on<nodes "n">>
