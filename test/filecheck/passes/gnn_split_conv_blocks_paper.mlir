// RUN: gnnc-opt %s --split-input-file -p 'gnn-split-conv-blocks{cost=tensors}' | filecheck %s

// Layer indexing (figure 5a): Convs of one layer share a block, and share what they load: %h, gathered from both ends.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h at source of %e : !x, !e -> !m
  %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  %m3 = gnn.gather %h at target of %e : !x, !e -> !m
  %h3 = gnn.aggregate sum %m3 at source of %e : !m, !e -> !x
  %y = gnn.add %h2, %h3 : !x, !x -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m2 = gnn.gather %h at source of %e_1 :
// CHECK-NEXT:  %h2 = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:  %m3 = gnn.gather %h at target of %e_1 :
// CHECK-NEXT:  %h3 = gnn.aggregate sum %m3 at source of %e_1 :
// CHECK-NEXT:  %y = gnn.add %h2, %h3 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1 :

// -----

// Minimum input (figure 5b): one tensor is loaded for neighbours and two are computed from it, rather than two loaded.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %relu = gnn.relu %h : !x
  %tanh = gnn.tanh %h : !x
  %m2 = gnn.gather %relu at source of %e : !x, !e -> !m
  %m3 = gnn.gather %tanh at source of %e : !x, !e -> !m
  %m4 = gnn.mul %m2, %m3 : !m, !m -> !m
  %y = gnn.aggregate sum %m4 at target of %e : !m, !e -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %relu = gnn.relu %h :
// CHECK-NEXT:  %tanh = gnn.tanh %h :
// CHECK-NEXT:  %m2 = gnn.gather %relu at source of %e_1 :
// CHECK-NEXT:  %m3 = gnn.gather %tanh at source of %e_1 :
// CHECK-NEXT:  %m4 = gnn.mul %m2, %m3 :
// CHECK-NEXT:  %y = gnn.aggregate sum %m4 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1 :

// -----

// Upstream binding (figure 5c): one tensor either way, so %relu is computed once, in the first block.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %relu = gnn.relu %h : !x
  %m2 = gnn.gather %relu at source of %e : !x, !e -> !m
  %y = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  %relu = gnn.relu %h :
// CHECK-NEXT:  gnn.yield %relu :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%relu = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m2 = gnn.gather %relu at source of %e_1 :
// CHECK-NEXT:  %y = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1 :

// -----

// Both rules: what is made of %once twice stays downstream, for the sake of one tensor; %once itself goes upstream.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %once = gnn.relu %h : !x
  %a = gnn.tanh %once : !x
  %b = gnn.sigmoid %once : !x
  %m2 = gnn.gather %a at source of %e : !x, !e -> !m
  %m3 = gnn.gather %b at target of %e : !x, !e -> !m
  %m4 = gnn.mul %m2, %m3 : !m, !m -> !m
  %y = gnn.aggregate sum %m4 at target of %e : !m, !e -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  %once = gnn.relu %h :
// CHECK-NEXT:  gnn.yield %once :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%once = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %a = gnn.tanh %once :
// CHECK-NEXT:  %b = gnn.sigmoid %once :
// CHECK-NEXT:  %m2 = gnn.gather %a at source of %e_1 :
// CHECK-NEXT:  %m3 = gnn.gather %b at target of %e_1 :
// CHECK-NEXT:  %m4 = gnn.mul %m2, %m3 :
// CHECK-NEXT:  %y = gnn.aggregate sum %m4 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1 :
