// RUN: gnnc-opt %s -p "gnn-reorder-linear{degree=10}" | filecheck %s
// RUN: gnnc-opt %s -p "gnn-reorder-linear{degree=10},gnn-reorder-linear{degree=10}" | filecheck %s

!wide = tensor<?x64xf32, #gnn.on<nodes "n">>
!wide_e = tensor<?x64xf32, #gnn.on<edges "e">>
!two_e = tensor<?x128xf32, #gnn.on<edges "e">>
!thin = tensor<?x16xf32, #gnn.on<nodes "n">>
!thin_e = tensor<?x16xf32, #gnn.on<edges "e">>
!column = tensor<?x1xf32, #gnn.on<nodes "n">>
!set = !gnn.edges<"e", "n" -> "n">
func.func @structure() { func.return }
gnn.weight @w : tensor<16x64xf32>
gnn.weight @v : tensor<64x16xf32>
gnn.weight @pair : tensor<16x128xf32>
gnn.weight @b : tensor<16xf32>

// The weight of a concatenation falls into two parts, the transpose of v is made once: both are made from weights.
// CHECK: gnn.weight @pair.1 : tensor<16x64xf32>
// CHECK: gnn.weight @pair.0 : tensor<16x64xf32>
// CHECK: gnn.weight @transposed.0 : tensor<16x64xf32>
// CHECK: func.func @weights()
// CHECK-SAME: attributes {gnn.names = ["transposed.0", "pair.0", "pair.1"]}
// CHECK: gnn.whole_graph "aten.t.default"
// CHECK: gnn.whole_graph "aten.slice.Tensor"(%{{.*}}, 1, 0, 64)
// CHECK: gnn.whole_graph "aten.slice.Tensor"(%{{.*}}, 1, 64, 128)

// CHECK: func.func @forward
func.func @forward(%x: !wide {gnn.name = "x"}, %t: !thin {gnn.name = "t"}, %c: !column {gnn.name = "c"}, %e: !set) -> (!thin, !wide, !thin, !thin, !thin) {
  %w = gnn.load_weight @w : tensor<16x64xf32>
  %b = gnn.load_weight @b : tensor<16xf32>

  // 64 to 16: the linear layer comes first, on nodes, and thin rows are gathered; the bias comes after the sum.
  // CHECK: gnn.linear %x, %{{.*}} : tensor<?x64xf32, #gnn.on<nodes "n">>, tensor<16x64xf32> -> tensor<?x16xf32
  // CHECK: gnn.gather {{.*}} -> tensor<?x16xf32
  // CHECK: gnn.aggregate sum
  // CHECK: gnn.add %{{.*}}, %b
  %m = gnn.gather %x at source of %e : !wide, !set -> !wide_e
  %s = gnn.aggregate sum %m at target of %e : !wide_e, !set -> !wide
  %y = gnn.linear %s, %w, %b : !wide, tensor<16x64xf32>, tensor<16xf32> -> !thin

  // 16 to 64: the linear layer stays behind the sum.
  // CHECK: gnn.gather %t at source
  // CHECK: gnn.aggregate mean
  // CHECK: gnn.linear {{.*}} tensor<64x16xf32> -> tensor<?x64xf32
  %v = gnn.load_weight @v : tensor<64x16xf32>
  %mt = gnn.gather %t at source of %e : !thin, !set -> !thin_e
  %st = gnn.aggregate mean %mt at target of %e : !thin_e, !set -> !thin
  %yt = gnn.linear %st, %v : !thin, tensor<64x16xf32> -> !wide

  // Never across a maximum.
  // CHECK: gnn.aggregate max
  // CHECK: gnn.linear
  %mx = gnn.gather %x at source of %e : !wide, !set -> !wide_e
  %sx = gnn.aggregate max %mx at target of %e : !wide_e, !set -> !wide
  %yx = gnn.linear %sx, %w : !wide, tensor<16x64xf32> -> !thin

  // What is on edges is computed once a node, in two parts.
  // CHECK: gnn.linear %x
  // CHECK: gnn.gather {{.*}} at target
  // CHECK: gnn.linear %x
  // CHECK: gnn.gather {{.*}} at source
  // CHECK: gnn.add {{.*}} #gnn.on<edges "e">
  %p = gnn.load_weight @pair : tensor<16x128xf32>
  %here = gnn.gather %x at target of %e : !wide, !set -> !wide_e
  %there = gnn.gather %x at source of %e : !wide, !set -> !wide_e
  %both = gnn.concat %here, %there axis 1 : !wide_e, !wide_e -> !two_e
  %l = gnn.linear %both, %p : !two_e, tensor<16x128xf32> -> !thin_e
  %yp = gnn.aggregate max %l at target of %e : !thin_e, !set -> !thin

  // x @ v is a linear layer; the scaling comes after it, and so does adding what is scaled.
  // CHECK: gnn.load_weight @transposed.0
  // CHECK: gnn.gather
  // CHECK: gnn.aggregate mean
  // CHECK: gnn.mul %{{.*}}, %c
  %mg = gnn.gather %x at source of %e : !wide, !set -> !wide_e
  %sg = gnn.aggregate mean %mg at target of %e : !wide_e, !set -> !wide
  %scaled = gnn.mul %sg, %c : !wide, !column -> !wide
  %yg = gnn.matmul %scaled, %v : !wide, tensor<64x16xf32> -> !thin
  func.return %y, %yt, %yx, %yp, %yg : !thin, !wide, !thin, !thin, !thin
}
