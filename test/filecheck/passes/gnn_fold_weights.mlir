// RUN: gnnc-opt %s -p gnn-fold-weights | filecheck %s

!nodes = tensor<?x64xf32, #gnn.on<nodes "n">>
!heads = tensor<?x2x32xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<nodes "n">>
!hidden = tensor<64xf32>
!narrow = tensor<?x8xf32, #gnn.on<nodes "n">>
func.func @structure() { func.return }
gnn.weight @w : tensor<64x64xf32>
gnn.weight @v : tensor<64x8xf32>
gnn.weight @b : !hidden
gnn.weight @mean : !hidden
gnn.weight @var : !hidden
gnn.weight @scale : !hidden
gnn.weight @shift : !hidden
gnn.weight @att : tensor<1x2x32xf32>

// CHECK: func.func @weights()
// CHECK-SAME: gnn.names = ["folded.weight.0", "folded.bias.0", "folded.factor.0", "folded.offset.0", "folded.projection.0", "folded.projection.bias.0"]
// CHECK: gnn.whole_graph "aten.full.default"([], 1.000000e-05 : f64) {dtype = f32}
// CHECK: gnn.whole_graph "aten.sqrt.default"
// CHECK: gnn.whole_graph "aten.sum.dim_IntList"(%{{.*}}, [1])

// CHECK: func.func @forward
func.func @forward(%x: !nodes {gnn.name = "x"}, %y: !narrow {gnn.name = "y"}) -> (!nodes, !nodes, !scores, !scores) {
  %w = gnn.load_weight @w : tensor<64x64xf32>
  %b = gnn.load_weight @b : !hidden
  %mean = gnn.load_weight @mean : !hidden
  %var = gnn.load_weight @var : !hidden
  %scale = gnn.load_weight @scale : !hidden
  %shift = gnn.load_weight @shift : !hidden

  // A batch norm after a linear layer is part of it,
  // CHECK: %[[W:.*]] = gnn.load_weight @folded.weight.0
  // CHECK-NEXT: %[[B:.*]] = gnn.load_weight @folded.bias.0
  // CHECK-NEXT: %n = gnn.linear %x, %[[W]], %[[B]]
  %l = gnn.linear %x, %w, %b : !nodes, tensor<64x64xf32>, !hidden -> !nodes
  %n = gnn.batch_norm %l, %mean, %var affine %scale, %shift eps 1.0e-05 : !nodes, !hidden, !hidden affine !hidden, !hidden

  // elsewhere a product and a sum.
  // CHECK: gnn.relu
  // CHECK-NEXT: gnn.load_weight @folded.factor.0
  // CHECK-NEXT: gnn.load_weight @folded.offset.0
  // CHECK-NEXT: gnn.mul
  // CHECK-NEXT: gnn.add
  %r = gnn.relu %n : !nodes
  %n2 = gnn.batch_norm %r, %mean, %var eps 1.0e-05 : !nodes, !hidden, !hidden

  // Attention's projections become a thin linear layer where that costs less than a loop over the wide rows.
  // CHECK: gnn.load_weight @folded.projection.0
  // CHECK-NEXT: gnn.load_weight @folded.projection.bias.0
  // CHECK-NEXT: gnn.linear %y, {{.*}} tensor<2x8xf32>, tensor<2xf32> -> tensor<?x2xf32
  %att = gnn.load_weight @att : tensor<1x2x32xf32>
  %v = gnn.load_weight @v : tensor<64x8xf32>
  %k = gnn.linear %y, %v, %b : !narrow, tensor<64x8xf32>, !hidden -> !nodes
  %h = gnn.reshape %k : !nodes -> !heads
  %p = gnn.mul %h, %att : !heads, tensor<1x2x32xf32> -> !heads
  %s = gnn.rowwise "aten.sum.dim_IntList"(%p, [-1]) : (!heads) -> !scores

  // CHECK: gnn.linear %x
  // CHECK-NEXT: gnn.reshape
  // CHECK-NEXT: gnn.mul
  // CHECK-NEXT: gnn.rowwise "aten.sum.dim_IntList"
  %wide = gnn.linear %x, %w, %b : !nodes, tensor<64x64xf32>, !hidden -> !nodes
  %wh = gnn.reshape %wide : !nodes -> !heads
  %wp = gnn.mul %wh, %att : !heads, tensor<1x2x32xf32> -> !heads
  %ws = gnn.rowwise "aten.sum.dim_IntList"(%wp, [-1]) : (!heads) -> !scores
  func.return %n, %n2, %s, %ws : !nodes, !nodes, !scores, !scores
}
