// RUN: gnnc-opt %s --split-input-file -p gnn-split-conv-blocks | filecheck %s --check-prefix=TIME
// RUN: gnnc-opt %s --split-input-file -p 'gnn-split-conv-blocks{cost=tensors}' | filecheck %s --check-prefix=TENSORS

// An edge state that is made from wide neighbours is stored, as rows of the targets' edges. Counted in tensors, as many as
// edges a target, it is computed again: the features are there anyway.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!wide = tensor<?x64xf32, #gnn.on<nodes "n">>
!widem = tensor<?x64xf32, #gnn.on<edges "e">>
!s = tensor<?x1xf32, #gnn.on<edges "e">>
!g = tensor<1x4xf32>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, index) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %n = gnn.count on<nodes "n">
  func.return %e, %n : !e, index
}
gnn.weight @narrow : tensor<4x64xf32>
func.func @forward(%x: !wide {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
  %a = gnn.gather %x at source of %e : !wide, !e -> !widem
  %p = gnn.linear %a, %narrow : !widem, tensor<4x64xf32> -> !m
  %s1 = gnn.tanh %p : !m
  %h1 = gnn.aggregate sum %s1 at target of %e : !m, !e -> !x
  %c = gnn.gather %h1 at source of %e : !x, !e -> !m
  %s2 = gnn.add %s1, %c : !m, !m -> !m
  %h2 = gnn.aggregate sum %s2 at target of %e : !m, !e -> !x
  func.return %h2 : !x
}

// TIME-LABEL: func.func @forward(
// TIME-NEXT:  %0, %1 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x64xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>)
// TIME-NEXT:    %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
// TIME-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// TIME-NEXT:    %p = gnn.linear %a, %narrow :
// TIME-NEXT:    %s1 = gnn.tanh %p :
// TIME-NEXT:    %h1 = gnn.aggregate sum %s1 at target of %e_1 :
// TIME-NEXT:    gnn.yield %s1, %h1 :
// TIME-NEXT:  }
// TIME-NEXT:  %2 = gnn.conv_block layer 2 neighbors(%h1 = %1 : tensor<?x4xf32, #gnn.on<nodes "n">>) edges(%s1 = %0 : tensor<?x4xf32, #gnn.on<edges "e">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// TIME-NEXT:    %c = gnn.gather %h1 at source of %e_1 :
// TIME-NEXT:    %s2 = gnn.add %s1, %c :
// TIME-NEXT:    %h2 = gnn.aggregate sum %s2 at target of %e_1 :
// TIME-NEXT:    gnn.yield %h2 :
// TIME-NEXT:  }
// TIME-NEXT:  func.return %2 :

// TENSORS-LABEL: func.func @forward(
// TENSORS-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x64xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// TENSORS-NEXT:    %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
// TENSORS-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// TENSORS-NEXT:    %p = gnn.linear %a, %narrow :
// TENSORS-NEXT:    %s1 = gnn.tanh %p :
// TENSORS-NEXT:    %h1 = gnn.aggregate sum %s1 at target of %e_1 :
// TENSORS-NEXT:    gnn.yield %h1 :
// TENSORS-NEXT:  }
// TENSORS-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>, %x_1 = %x : tensor<?x64xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// TENSORS-NEXT:    %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
// TENSORS-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// TENSORS-NEXT:    %p = gnn.linear %a, %narrow :
// TENSORS-NEXT:    %s1 = gnn.tanh %p :
// TENSORS-NEXT:    %c = gnn.gather %h1 at source of %e_1 :
// TENSORS-NEXT:    %s2 = gnn.add %s1, %c :
// TENSORS-NEXT:    %h2 = gnn.aggregate sum %s2 at target of %e_1 :
// TENSORS-NEXT:    gnn.yield %h2 :
// TENSORS-NEXT:  }
// TENSORS-NEXT:  func.return %1 :

// -----

// A state that is wider than what it is made of is computed again at any price.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!s = tensor<?x1xf32, #gnn.on<edges "e">>
!w = tensor<?x64xf32, #gnn.on<edges "e">>
!g = tensor<1x4xf32>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, index) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %n = gnn.count on<nodes "n">
  func.return %e, %n : !e, index
}
gnn.weight @widen : tensor<64x4xf32>
gnn.weight @narrow : tensor<4x64xf32>
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %n: index {gnn.structure = 1 : i64}) -> !x {
  %widen = gnn.load_weight @widen : tensor<64x4xf32>
  %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
  %a = gnn.gather %x at source of %e : !x, !e -> !m
  %s1 = gnn.linear %a, %widen : !m, tensor<64x4xf32> -> !w
  %t1 = gnn.relu %s1 : !w
  %p1 = gnn.linear %t1, %narrow : !w, tensor<4x64xf32> -> !m
  %h1 = gnn.aggregate sum %p1 at target of %e : !m, !e -> !x
  %c = gnn.gather %h1 at source of %e : !x, !e -> !m
  %u = gnn.linear %c, %widen : !m, tensor<64x4xf32> -> !w
  %s2 = gnn.add %t1, %u : !w, !w -> !w
  %p2 = gnn.linear %s2, %narrow : !w, tensor<4x64xf32> -> !m
  %h2 = gnn.aggregate sum %p2 at target of %e : !m, !e -> !x
  func.return %h2 : !x
}

// TIME-LABEL: func.func @forward(
// TIME-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// TIME-NEXT:    %widen = gnn.load_weight @widen : tensor<64x4xf32>
// TIME-NEXT:    %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
// TIME-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// TIME-NEXT:    %s1 = gnn.linear %a, %widen :
// TIME-NEXT:    %t1 = gnn.relu %s1 :
// TIME-NEXT:    %p1 = gnn.linear %t1, %narrow :
// TIME-NEXT:    %h1 = gnn.aggregate sum %p1 at target of %e_1 :
// TIME-NEXT:    gnn.yield %h1 :
// TIME-NEXT:  }
// TIME-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>, %x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// TIME-NEXT:    %widen = gnn.load_weight @widen : tensor<64x4xf32>
// TIME-NEXT:    %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
// TIME-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// TIME-NEXT:    %s1 = gnn.linear %a, %widen :
// TIME-NEXT:    %t1 = gnn.relu %s1 :
// TIME-NEXT:    %c = gnn.gather %h1 at source of %e_1 :
// TIME-NEXT:    %u = gnn.linear %c, %widen :
// TIME-NEXT:    %s2 = gnn.add %t1, %u :
// TIME-NEXT:    %p2 = gnn.linear %s2, %narrow :
// TIME-NEXT:    %h2 = gnn.aggregate sum %p2 at target of %e_1 :
// TIME-NEXT:    gnn.yield %h2 :
// TIME-NEXT:  }
// TIME-NEXT:  func.return %1 :

// TENSORS-LABEL: func.func @forward(
// TENSORS-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// TENSORS-NEXT:    %widen = gnn.load_weight @widen : tensor<64x4xf32>
// TENSORS-NEXT:    %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
// TENSORS-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// TENSORS-NEXT:    %s1 = gnn.linear %a, %widen :
// TENSORS-NEXT:    %t1 = gnn.relu %s1 :
// TENSORS-NEXT:    %p1 = gnn.linear %t1, %narrow :
// TENSORS-NEXT:    %h1 = gnn.aggregate sum %p1 at target of %e_1 :
// TENSORS-NEXT:    gnn.yield %h1 :
// TENSORS-NEXT:  }
// TENSORS-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>, %x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// TENSORS-NEXT:    %widen = gnn.load_weight @widen : tensor<64x4xf32>
// TENSORS-NEXT:    %narrow = gnn.load_weight @narrow : tensor<4x64xf32>
// TENSORS-NEXT:    %a = gnn.gather %x_1 at source of %e_1 :
// TENSORS-NEXT:    %s1 = gnn.linear %a, %widen :
// TENSORS-NEXT:    %t1 = gnn.relu %s1 :
// TENSORS-NEXT:    %c = gnn.gather %h1 at source of %e_1 :
// TENSORS-NEXT:    %u = gnn.linear %c, %widen :
// TENSORS-NEXT:    %s2 = gnn.add %t1, %u :
// TENSORS-NEXT:    %p2 = gnn.linear %s2, %narrow :
// TENSORS-NEXT:    %h2 = gnn.aggregate sum %p2 at target of %e_1 :
// TENSORS-NEXT:    gnn.yield %h2 :
// TENSORS-NEXT:  }
// TENSORS-NEXT:  func.return %1 :
