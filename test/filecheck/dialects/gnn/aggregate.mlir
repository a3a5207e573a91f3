// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
#e = #gnn.on<edges "e">
!e = !gnn.edges<"e", "n" -> "n">
%m, %e = "test.op"() : () -> (tensor<?x4xf32, #e>, !e)
%sum = gnn.aggregate sum %m at target of %e : tensor<?x4xf32, #e>, !e -> tensor<?x4xf32, #n>
%mean = gnn.aggregate mean %m at source of %e layer 1 conv 0 : tensor<?x4xf32, #e>, !e -> tensor<?x4xf32, #n>
%max = gnn.aggregate max %m at target of %e layer 2 conv 1 {note} : tensor<?x4xf32, #e>, !e -> tensor<?x4xf32, #n>
%min = gnn.aggregate min %m at target of %e {note} : tensor<?x4xf32, #e>, !e -> tensor<?x4xf32, #n>
%mul = gnn.aggregate mul %m at target of %e : tensor<?x4xf32, #e>, !e -> tensor<?x4xf32, #n>
%some = gnn.aggregate sum %m at target of %e layer 1 conv 0 sample <fanout 10 seed -3> {note} : tensor<?x4xf32, #e>, !e -> tensor<?x4xf32, #n>
%known = gnn.aggregate sum %m at target of %e layer 1 conv 0 densities [#gnn.density<3/16>, #gnn.density<?>] {note} : tensor<?x4xf32, #e>, !e -> tensor<?x4xf32, #n>

// CHECK:      %m, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">)
// CHECK-NEXT: %sum = gnn.aggregate sum %m at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %mean = gnn.aggregate mean %m at source of %e layer 1 conv 0 : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %max = gnn.aggregate max %m at target of %e layer 2 conv 1 {note} : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %min = gnn.aggregate min %m at target of %e {note} : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %mul = gnn.aggregate mul %m at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %some = gnn.aggregate sum %m at target of %e layer 1 conv 0 sample <fanout 10 seed -3> {note} : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %known = gnn.aggregate sum %m at target of %e layer 1 conv 0 densities [#gnn.density<3/16>, #gnn.density<?>] {note} : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
