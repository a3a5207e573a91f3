// RUN: gnnc-opt %s --split-input-file -p gnn-split-conv-blocks | filecheck %s

// A residual is loaded for targets only: %x in the second block.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h1 at source of %e : !x, !e -> !m
  %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  %y = gnn.add %h2, %x : !x, !x -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h1 = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h1 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) targets(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m2 = gnn.gather %h1 at source of %e_1 :
// CHECK-NEXT:  %h2 = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:  %y = gnn.add %h2, %x_1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1 :

// -----

// So is what is gathered at the end where the Conv reduces: %q, beside %x that neighbours need.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %q: !x {gnn.name = "q"}) -> !x {
  %a = gnn.gather %x at source of %e : !x, !e -> !m
  %b = gnn.gather %q at target of %e : !x, !e -> !m
  %m1 = gnn.mul %a, %b : !m, !m -> !m
  %y = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) targets(%q_1 = %q : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %a = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %b = gnn.gather %q_1 at target of %e_1 :
// CHECK-NEXT:  %m1 = gnn.mul %a, %b :
// CHECK-NEXT:  %y = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %0 :

// -----

// What is needed both ways is loaded once, for neighbours: %h1.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h1 at source of %e : !x, !e -> !m
  %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  %y = gnn.add %h2, %h1 : !x, !x -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h1 = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h1 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m2 = gnn.gather %h1 at source of %e_1 :
// CHECK-NEXT:  %h2 = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:  %y = gnn.add %h2, %h1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1 :

// -----

// A value that two later blocks use is stored once: %0 goes into layers 2 and 3.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %r1 = gnn.relu %h1 : !x
  %m2 = gnn.gather %r1 at source of %e : !x, !e -> !m
  %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  %s2 = gnn.add %h2, %r1 : !x, !x -> !x
  %m3 = gnn.gather %s2 at source of %e : !x, !e -> !m
  %h3 = gnn.aggregate sum %m3 at target of %e : !m, !e -> !x
  %y = gnn.add %h3, %r1 : !x, !x -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h1 = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  %r1 = gnn.relu %h1 :
// CHECK-NEXT:  gnn.yield %r1 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%r1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m2 = gnn.gather %r1 at source of %e_1 :
// CHECK-NEXT:  %h2 = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:  %s2 = gnn.add %h2, %r1 :
// CHECK-NEXT:  gnn.yield %s2 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %2 = gnn.conv_block layer 3 neighbors(%s2 = %1 : tensor<?x4xf32, #gnn.on<nodes "n">>) targets(%r1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m3 = gnn.gather %s2 at source of %e_1 :
// CHECK-NEXT:  %h3 = gnn.aggregate sum %m3 at target of %e_1 :
// CHECK-NEXT:  %y = gnn.add %h3, %r1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %2 :

// -----

// Jumping knowledge: the results of all layers, joined in the last block.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> tensor<?x12xf32, #gnn.on<nodes "n">> {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h1 at source of %e : !x, !e -> !m
  %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  %m3 = gnn.gather %h2 at source of %e : !x, !e -> !m
  %h3 = gnn.aggregate sum %m3 at target of %e : !m, !e -> !x
  %y = gnn.concat %h1, %h2, %h3 axis 1 : !x, !x, !x -> tensor<?x12xf32, #gnn.on<nodes "n">>
  func.return %y : tensor<?x12xf32, #gnn.on<nodes "n">>
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h1 = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h1 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m2 = gnn.gather %h1 at source of %e_1 :
// CHECK-NEXT:  %h2 = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h2 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %2 = gnn.conv_block layer 3 neighbors(%h2 = %1 : tensor<?x4xf32, #gnn.on<nodes "n">>) targets(%h1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x12xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m3 = gnn.gather %h2 at source of %e_1 :
// CHECK-NEXT:  %h3 = gnn.aggregate sum %m3 at target of %e_1 :
// CHECK-NEXT:  %y = gnn.concat %h1, %h2, %h3 axis 1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %2 :

// -----

// A result of an early layer is an output of its block. Here the second block starts from it too: what is stored anyway is
// cheaper than a second tensor.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> (!x, !x) {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %r1 = gnn.relu %h1 : !x
  %m2 = gnn.gather %r1 at source of %e : !x, !e -> !m
  %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !x
  func.return %h2, %h1 : !x, !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h1 = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h1 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%h1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %r1 = gnn.relu %h1 :
// CHECK-NEXT:  %m2 = gnn.gather %r1 at source of %e_1 :
// CHECK-NEXT:  %h2 = gnn.aggregate sum %m2 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h2 :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %1, %0 :

// -----

// Two results of the last block, one of them twice.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> (!x, !x, !x) {
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %r1 = gnn.relu %h1 : !x
  func.return %r1, %h1, %r1 : !x, !x, !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0, %1 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %x_1 at source of %e_1 :
// CHECK-NEXT:  %h1 = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  %r1 = gnn.relu %h1 :
// CHECK-NEXT:  gnn.yield %r1, %h1 :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %0, %1, %0 :

// -----

// Without a Conv there is one block, of layer 0, for targets alone.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %r = gnn.relu %x : !x
  %y = gnn.add %r, %x : !x, !x -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 0 targets(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %r = gnn.relu %x_1 :
// CHECK-NEXT:  %y = gnn.add %r, %x_1 :
// CHECK-NEXT:  gnn.yield %y :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %0 :

// -----

// What is returned as it came needs no block.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  func.return %x : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  func.return %x :

// -----

// Values of the structure are at hand in every block; what is made of them alone is made again where it is used.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, !x) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %ones = gnn.fill 1.0 : f64 -> !m
  %d = gnn.aggregate sum %ones at target of %e : !m, !e -> !x
  func.return %e, %d : !e, !x
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %d: !x {gnn.structure = 1 : i64}) -> !x {
  %s = gnn.sigmoid %d : !x
  %p1 = gnn.mul %x, %s : !x, !x -> !x
  %m1 = gnn.gather %p1 at source of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h1 at source of %e : !x, !e -> !m
  %ms = gnn.gather %s at source of %e : !x, !e -> !m
  %p2 = gnn.mul %m2, %ms : !m, !m -> !m
  %h2 = gnn.aggregate sum %p2 at target of %e : !m, !e -> !x
  func.return %h2 : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %0 = gnn.conv_block layer 0 targets(%x_1 = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%d_1 = %d : tensor<?x4xf32, #gnn.on<nodes "n">>) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %s = gnn.sigmoid %d_1 :
// CHECK-NEXT:  %p1 = gnn.mul %x_1, %s :
// CHECK-NEXT:  gnn.yield %p1 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %1 = gnn.conv_block layer 1 neighbors(%p1 = %0 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %m1 = gnn.gather %p1 at source of %e_1 :
// CHECK-NEXT:  %h1 = gnn.aggregate sum %m1 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h1 :
// CHECK-NEXT:  }
// CHECK-NEXT:  %2 = gnn.conv_block layer 2 neighbors(%h1 = %1 : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : !gnn.edges<"e", "n" -> "n">, %d_1 = %d : tensor<?x4xf32, #gnn.on<nodes "n">>) -> (tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT:  %s = gnn.sigmoid %d_1 :
// CHECK-NEXT:  %m2 = gnn.gather %h1 at source of %e_1 :
// CHECK-NEXT:  %ms = gnn.gather %s at source of %e_1 :
// CHECK-NEXT:  %p2 = gnn.mul %m2, %ms :
// CHECK-NEXT:  %h2 = gnn.aggregate sum %p2 at target of %e_1 :
// CHECK-NEXT:  gnn.yield %h2 :
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %2 :
