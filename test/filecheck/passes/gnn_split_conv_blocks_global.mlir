// RUN: gnnc-opt %s --split-input-file -p gnn-split-conv-blocks | filecheck %s

// A reduction of all rows ends a block: the mean is computed between blocks, and the second block takes it as it does
// structure.
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
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%h, [0], true) : (!x) -> !g
  %mean = gnn.global_call "aten.div.Tensor"(%sum, %n) : (!g, index) -> !g
  %c = gnn.sub %h, %mean : !x, !g -> !x
  %m2 = gnn.gather %c at source of %e : !x, !e -> !m
  %y = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0, %1 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<1x4xf32>)
// CHECK-NEXT:    %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:    %h = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:    %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%h, [0], true) :
// CHECK-NEXT:    gnn.yield %h, %sum :
// CHECK-NEXT:  }
// CHECK-NEXT:  %mean = gnn.global_call "aten.div.Tensor"(%1, %n) :
// CHECK-NEXT:  %2 = gnn.conv_block layer 1 targets(%h = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%mean_1 = %mean : tensor<1x4xf32>) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:    %c = gnn.sub %h, %mean_1 :
// CHECK-NEXT:    gnn.yield %c :
// CHECK-NEXT:  }
// CHECK-NEXT:  %3 = gnn.conv_block layer 2 neighbors(%c = %2 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:    %m2 = gnn.gather %c at source of %e_1 :
// CHECK-NEXT:    %y = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:    gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %3 :

// -----

// Reductions that don't wait for each other share a block; one that needs another's result is a block later, of layer 0 too.
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
  %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%x, [0], true) : (!x) -> !g
  %max = gnn.global_reduce max "aten.amax.default"(%x, [0], true) : (!x) -> !g
  %a = gnn.sub %x, %sum : !x, !g -> !x
  %b = gnn.sub %a, %max : !x, !g -> !x
  %least = gnn.global_reduce min "aten.amin.default"(%b, [0], true) : (!x) -> !g
  %y = gnn.add %x, %least : !x, !g -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0, %1 = gnn.conv_block layer 0 targets(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
// CHECK-NEXT:    %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%x_1, [0], true) :
// CHECK-NEXT:    %max = gnn.global_reduce max "aten.amax.default"(%x_1, [0], true) :
// CHECK-NEXT:    gnn.yield %sum, %max :
// CHECK-NEXT:  }
// CHECK-NEXT:  %2 = gnn.conv_block layer 0 targets(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%max = %1 : tensor<1x4xf32>, %sum = %0 : tensor<1x4xf32>) -> (tensor<1x4xf32>)
// CHECK-NEXT:    %a = gnn.sub %x_1, %sum :
// CHECK-NEXT:    %b = gnn.sub %a, %max :
// CHECK-NEXT:    %least = gnn.global_reduce min "aten.amin.default"(%b, [0], true) :
// CHECK-NEXT:    gnn.yield %least :
// CHECK-NEXT:  }
// CHECK-NEXT:  %3 = gnn.conv_block layer 0 targets(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%least = %2 : tensor<1x4xf32>) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:    %y = gnn.add %x_1, %least :
// CHECK-NEXT:    gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %3 :

// -----

// A reduction is a result of its own; a weight is loaded anew where a call between blocks takes it.
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
gnn.weight @w : !g
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %n: index {gnn.structure = 1 : i64}) -> (!g, !x) {
  %w = gnn.load_weight @w : !g
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %b = gnn.add %h, %w : !x, !g -> !x
  %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%b, [0], true) : (!x) -> !g
  %y = gnn.global_call "aten.mul.Tensor"(%sum, %w) : (!g, !g) -> !g
  func.return %y, %b : !g, !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0, %1 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<1x4xf32>)
// CHECK-NEXT:    %w = gnn.load_weight @w : tensor<1x4xf32>
// CHECK-NEXT:    %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:    %h = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:    %b = gnn.add %h, %w :
// CHECK-NEXT:    %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%b, [0], true) :
// CHECK-NEXT:    gnn.yield %b, %sum :
// CHECK-NEXT:  }
// CHECK-NEXT:  %w = gnn.load_weight @w : tensor<1x4xf32>
// CHECK-NEXT:  %y = gnn.global_call "aten.mul.Tensor"(%1, %w) :
// CHECK-NEXT:  func.return %y, %0 :

// -----

// All edges are reduced in the batches of their targets: the edge set comes into the block though no aggregation is there.
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
  %a = gnn.gather %x at source of %e : !x, !e -> !m
  %b = gnn.gather %x at target of %e : !x, !e -> !m
  %d = gnn.sub %a, %b : !m, !m -> !m
  %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%d, [0], true) : (!m) -> !g
  %y = gnn.add %x, %sum : !x, !g -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<1x4xf32>)
// CHECK-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:    %b = gnn.gather %x_1 at target of %e_1 :
// CHECK-NEXT:    %d = gnn.sub %a, %b :
// CHECK-NEXT:    %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%d, [0], true) :
// CHECK-NEXT:    gnn.yield %sum :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 1 targets(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%sum = %0 : tensor<1x4xf32>) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:    %y = gnn.add %x_1, %sum :
// CHECK-NEXT:    gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1 :
