// RUN: gnnc-opt %s --split-input-file -p gnn-split-conv-blocks | filecheck %s

// Scores of all edges are a result: computed in the block of their layer, in the batches of the targets.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!s = tensor<?x1xf32, #gnn.on<edges "e">>
!g = tensor<1x4xf32>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, index) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %n = gnn.count on<nodes "n">
  func.return %e, %n : !e, index
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %n: index {gnn.structure = 1 : i64}) -> (!m, !x) {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %a = gnn.gather %h at source of %e : !x, !e -> !m
  %b = gnn.gather %h at target of %e : !x, !e -> !m
  %y = gnn.mul %a, %b : !m, !m -> !m
  func.return %y, %h : !m, !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:    %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:    %h = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:    gnn.yield %h :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<edges "e">>)
// CHECK-NEXT:    %a = gnn.gather %h at source of %e_1 :
// CHECK-NEXT:    %b = gnn.gather %h at target of %e_1 :
// CHECK-NEXT:    %y = gnn.mul %a, %b :
// CHECK-NEXT:    gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1, %0 :

// -----

// What GAT attends to: a softmax is a result of the block that normalises it, and no other block computes it again.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!s = tensor<?x1xf32, #gnn.on<edges "e">>
!g = tensor<1x4xf32>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, index) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %n = gnn.count on<nodes "n">
  func.return %e, %n : !e, index
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %n: index {gnn.structure = 1 : i64}) -> (!s, !x) {
  %a = gnn.gather %x at source of %e : !x, !e -> !m
  %w = gnn.rowwise "aten.sum.dim_IntList"(%a, [1], true) : (!m) -> !s
  %alpha = gnn.edge_softmax %w at target of %e eps 1.0e-16 : !s, !e
  %am = gnn.mul %a, %alpha : !m, !s -> !m
  %h = gnn.aggregate sum %am at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h at source of %e : !x, !e -> !m
  %y = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  func.return %alpha, %y : !s, !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0, %1 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<edges "e">>)
// CHECK-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:    %w = gnn.rowwise "aten.sum.dim_IntList"(%a, [1], true) :
// CHECK-NEXT:    %alpha = gnn.edge_softmax %w at target of %e_1 eps 1.000000e-16 :
// CHECK-NEXT:    %am = gnn.mul %a, %alpha :
// CHECK-NEXT:    %h = gnn.aggregate sum %am at target of %e_1 :
// CHECK-NEXT:    gnn.yield %h, %alpha :
// CHECK-NEXT:  }
// CHECK-NEXT:  %2 = gnn.conv_block layer 2 neighbors(%h = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:    %m2 = gnn.gather %h at source of %e_1 :
// CHECK-NEXT:    %y = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:    gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1, %2 :

// -----

// An edge value that needs the targets alone is computed again in each block: to store it would save no neighbour.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!s = tensor<?x1xf32, #gnn.on<edges "e">>
!g = tensor<1x4xf32>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, index) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %n = gnn.count on<nodes "n">
  func.return %e, %n : !e, index
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %n: index {gnn.structure = 1 : i64}) -> !x {
  %p = gnn.gather %x at target of %e : !x, !e -> !m
  %q = gnn.tanh %p : !m
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %w1 = gnn.mul %m1, %q : !m, !m -> !m
  %h = gnn.aggregate sum %w1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h at source of %e : !x, !e -> !m
  %w2 = gnn.mul %m2, %q : !m, !m -> !m
  %y = gnn.aggregate sum %w2 at target of %e : !m, !e -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:    %p = gnn.gather %x_1 at target of %e_1 :
// CHECK-NEXT:    %q = gnn.tanh %p :
// CHECK-NEXT:    %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:    %w1 = gnn.mul %m1, %q :
// CHECK-NEXT:    %h = gnn.aggregate sum %w1 at target of %e_1 :
// CHECK-NEXT:    gnn.yield %h :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) targets(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:    %p = gnn.gather %x_1 at target of %e_1 :
// CHECK-NEXT:    %q = gnn.tanh %p :
// CHECK-NEXT:    %m2 = gnn.gather %h at source of %e_1 :
// CHECK-NEXT:    %w2 = gnn.mul %m2, %q :
// CHECK-NEXT:    %y = gnn.aggregate sum %w2 at target of %e_1 :
// CHECK-NEXT:    gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1 :
