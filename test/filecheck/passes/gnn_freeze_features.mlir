// RUN: gnnc-opt %s -p gnn-freeze-features | filecheck %s
// RUN: gnnc-opt %s -p gnn-freeze-features,gnn-reorder-linear,gnn-index-convs,gnn-split-conv-blocks | filecheck %s --check-prefix BLOCKS

!x = tensor<?x8xf32, #gnn.on<nodes "n">>
!m = tensor<?x8xf32, #gnn.on<edges "e">>
!h = tensor<?x2xf32, #gnn.on<nodes "n">>
!k = tensor<?x2xf32, #gnn.on<edges "e">>
!d = tensor<?x1xf32, #gnn.on<nodes "n">>
!set = !gnn.edges<"e", "n" -> "n">
gnn.weight @w : tensor<2x8xf32>
gnn.weight @scale : tensor<8xf32>
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}, %d: !d {gnn.name = "d"}) -> (!set, !d) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !set
  func.return %e, %d : !set, !d
}

// Two hops and a scaling of the features are computed before; what the weight is part of is not, nor what only structure is.
// CHECK: gnn.decisions = [#gnn.decision<"gnn-freeze-features" on "s2 (32 bytes)" at "" chose "computed when compiled"
// CHECK:      func.func @frozen(%x: tensor<?x8xf32, #gnn.on<nodes "n">> {gnn.name = "x"}, %e: !gnn.edges<"e", "n" -> "n"> {gnn.structure = 0 : i64}, %d: tensor<?x1xf32, #gnn.on<nodes "n">> {gnn.structure = 1 : i64}) -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>) {
// CHECK:        gnn.load_weight @scale
// CHECK:        gnn.aggregate mean
// CHECK:        gnn.aggregate mean
// CHECK-NOT:    gnn.linear
// CHECK:        func.return %s2, %s, %z :

// CHECK:      func.func @forward(%x: {{.*}} {gnn.name = "x"}, %e: {{.*}}, %d: {{.*}}, %s2: tensor<?x8xf32, #gnn.on<nodes "n">> {gnn.name = "frozen.0"}, %s: tensor<?x8xf32, #gnn.on<nodes "n">> {gnn.name = "frozen.1"}, %z: tensor<?x8xf32, #gnn.on<nodes "n">> {gnn.name = "frozen.2"})
// CHECK-NOT:    gnn.aggregate mean
// CHECK:        gnn.linear %s2
// CHECK:        gnn.gather %s at source
// CHECK:        gnn.aggregate max
// CHECK:        func.return %y, %z, %x, %t

// An edge value is computed again, from what is stored; blocks take it as any input.
// BLOCKS: func.func @forward
// BLOCKS: gnn.conv_block layer 0 targets({{.*}} = %s2
func.func @forward(%x: !x {gnn.name = "x"}, %e: !set {gnn.structure = 0 : i64}, %d: !d {gnn.structure = 1 : i64}) -> (!h, !x, !x, !h) {
  %w = gnn.load_weight @w : tensor<2x8xf32>
  %scale = gnn.load_weight @scale : tensor<8xf32>
  %g = gnn.gather %x at source of %e : !x, !set -> !m
  %s = gnn.aggregate mean %g at target of %e : !m, !set -> !x
  %g2 = gnn.gather %s at source of %e : !x, !set -> !m
  %a = gnn.aggregate mean %g2 at target of %e : !m, !set -> !x
  %s2 = gnn.mul %a, %scale : !x, tensor<8xf32> -> !x
  %y = gnn.linear %s2, %w : !x, tensor<2x8xf32> -> !h
  %one = gnn.fill 1.0 : f64 -> !d
  %r = gnn.add %d, %one : !d, !d -> !d
  %z = gnn.mul %s, %r : !x, !d -> !x
  %gy = gnn.gather %y at source of %e : !h, !set -> !k
  %edge = gnn.gather %s at source of %e : !x, !set -> !m
  %ey = gnn.linear %edge, %w : !m, tensor<2x8xf32> -> !k
  %both = gnn.add %gy, %ey : !k, !k -> !k
  %t = gnn.aggregate max %both at target of %e : !k, !set -> !h
  func.return %y, %z, %x, %t : !h, !x, !x, !h
}
