// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10,-1 seed=3},gnn-draw-samples' | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10,-1 seed=3},gnn-draw-samples,gnn-split-conv-blocks,gnn-fuse-conv' | filecheck %s --check-prefix FUSED

// Softmax and sum of a layer share one edge set, and what is computed on its edges; a layer that is not sampled keeps all
// edges, and so does the degree. Convs can be fused then.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!s = tensor<?x1xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %p: tensor<?x1xf32, #gnn.on<nodes "n">> {gnn.name = "p"}, %e: !e {gnn.structure = 0 : i64}) -> (!x, !x) {
  %one = gnn.fill 1.0 : f32 -> !m
  %degree = gnn.aggregate sum %one at target of %e : !m, !e -> !x
  %score = gnn.gather %p at source of %e : tensor<?x1xf32, #gnn.on<nodes "n">>, !e -> !s
  %a = gnn.edge_softmax %score at target of %e eps 1.0e-16 : !s, !e
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %w1 = gnn.mul %m1, %a : !m, !s -> !m
  %h1 = gnn.aggregate sum %w1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h1 at source of %e : !x, !e -> !m
  %h2 = gnn.aggregate max %m2 at target of %e : !m, !e -> !x
  func.return %h2, %degree : !x, !x
}

// CHECK:      %0 = gnn.sampled %e at target layer 1 sample <fanout 10 seed 3> : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.layer1", "n" -> "n">
// CHECK-NEXT: func.return %e, %0
// CHECK:      func.func @forward({{.*}}%e: !gnn.edges<"e", "n" -> "n"> {gnn.structure = 0 : i64}, %0: !gnn.edges<"e.layer1", "n" -> "n"> {gnn.structure = 1 : i64})
// CHECK-NEXT: %one = gnn.fill
// CHECK-NEXT: %degree = gnn.aggregate sum %one at target of %e layer 0 conv 0
// CHECK-NEXT: %score = gnn.gather %p at source of %0 : {{.*}} -> tensor<?x1xf32, #gnn.on<edges "e.layer1">>
// CHECK-NEXT: %a = gnn.edge_softmax %score at target of %0 eps {{\S+}} layer 1 conv 1 : tensor<?x1xf32, #gnn.on<edges "e.layer1">>
// CHECK-NEXT: %m1 = gnn.gather %x at source of %0
// CHECK-NEXT: %w1 = gnn.mul %m1, %a
// CHECK-NEXT: %h1 = gnn.aggregate sum %w1 at target of %0 layer 1 conv 1 :
// CHECK-NEXT: %m2 = gnn.gather %h1 at source of %e
// CHECK-NEXT: %h2 = gnn.aggregate max %m2 at target of %e layer 2 conv 2 :

// FUSED-COUNT-2: gnn.conv_block
// FUSED-NOT: gnn.sampled
