// RUN: gnnc-opt %s -p 'gnn-narrow-storage{type=bf16}' | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-narrow-storage{type=bf16},gnn-fuse-conv,convert-gnn-to-loops' | filecheck %s --check-prefix LOOPS
// RUN: gnnc-opt %s -p 'gnn-narrow-storage{type=fp32}' | filecheck %s --check-prefix SAME
// SAME-NOT: bf16

// Features, weights of linear layers and what blocks hand on are stored narrow; sums are not, nor what the model returns.
!x = tensor<?x16xf32, #gnn.on<nodes "n">>
!m = tensor<?x16xf32, #gnn.on<edges "e">>
!s = tensor<?x4xf32, #gnn.on<nodes "n">>
!set = !gnn.edges<"e", "n" -> "n">
// CHECK: gnn.precision = "bf16"
// CHECK: gnn.weight @w : tensor<16x16xbf16>
// CHECK: gnn.weight @bias : tensor<16xf32>
// CHECK: gnn.weight @v : tensor<16x16xbf16>
// CHECK: gnn.weight @vb : tensor<16xbf16>
// CHECK: gnn.weight @sparse : tensor<16x4xf32>
gnn.weight @w : tensor<16x16xf32>
gnn.weight @bias : tensor<16xf32>
gnn.weight @v : tensor<16x16xf32>
gnn.weight @vb : tensor<16xf32>
gnn.weight @sparse : tensor<16x4xf32>
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !set {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !set
  func.return %e : !set
}
// CHECK: func.func @forward(%x: tensor<?x16xbf16, #gnn.on<nodes "n">> {{.*}}, %s: tensor<?x4xf32, #gnn.on<nodes "n">> {{.*}}) -> tensor<?x16xf32, #gnn.on<nodes "n">>
func.func @forward(%x: !x {gnn.name = "x"}, %s: !s {gnn.name = "s"}, %edges: !set {gnn.structure = 0 : i64}) -> !x {
  // CHECK:      gnn.conv_block layer 1 {{.*}} -> (tensor<?x16xbf16
  // CHECK:        gnn.gather %{{.*}} at source of %{{.*}} : tensor<?x16xbf16, {{.*}} -> tensor<?x16xbf16
  // CHECK-NEXT:   gnn.cast %{{.*}} : tensor<?x16xbf16, {{.*}} -> tensor<?x16xf32
  // CHECK-NEXT:   gnn.aggregate sum
  // CHECK-NEXT:   gnn.load_weight @bias : tensor<16xf32>
  // CHECK-NEXT:   gnn.add
  // CHECK-NEXT:   gnn.relu %{{.*}} : tensor<?x16xf32
  // CHECK-NEXT:   gnn.load_weight @w : tensor<16x16xbf16>
  // CHECK-NEXT:   gnn.cast %{{.*}} : tensor<?x16xf32, {{.*}} -> tensor<?x16xbf16
  // CHECK-NEXT:   gnn.linear {{.*}} -> tensor<?x16xbf16
  // A relu gives the same in either type.
  // CHECK-NEXT:   gnn.relu %{{.*}} : tensor<?x16xbf16
  // CHECK-NEXT:   gnn.load_weight @v : tensor<16x16xbf16>
  // CHECK-NEXT:   gnn.load_weight @vb : tensor<16xbf16>
  // CHECK-NEXT:   gnn.linear {{.*}} -> tensor<?x16xbf16
  // CHECK-NEXT:   gnn.yield {{.*}} : tensor<?x16xbf16
  // LOOPS: gnn.fused_conv kernel @kernel_0({{.*}}tensor<?x16xbf16{{.*}} -> (tensor<?x16xbf16
  %h = gnn.conv_block layer 1 neighbors(%a = %x : !x) structure(%e = %edges : !set) -> (!x) {
    %g = gnn.gather %a at source of %e : !x, !set -> !m
    %t = gnn.aggregate sum %g at target of %e layer 1 conv 0 : !m, !set -> !x
    %b = gnn.load_weight @bias : tensor<16xf32>
    %c = gnn.add %t, %b : !x, tensor<16xf32> -> !x
    %r = gnn.relu %c : !x
    %w = gnn.load_weight @w : tensor<16x16xf32>
    %l = gnn.linear %r, %w : !x, tensor<16x16xf32> -> !x
    %r2 = gnn.relu %l : !x
    %v = gnn.load_weight @v : tensor<16x16xf32>
    %vb = gnn.load_weight @vb : tensor<16xf32>
    %k = gnn.linear %r2, %v, %vb : !x, tensor<16x16xf32>, tensor<16xf32> -> !x
    gnn.yield %k : !x
  }
  // What is read as sparse rows stays as it is; a residual is extended.
  // CHECK:      gnn.conv_block layer 2
  // CHECK:        gnn.cast %{{.*}} : tensor<?x16xbf16, {{.*}} -> tensor<?x16xf32
  // CHECK:        gnn.linear {{.*}} primitive <csr crossover 0.5> : tensor<?x4xf32
  // CHECK:        gnn.yield {{.*}} : tensor<?x16xf32
  %y = gnn.conv_block layer 2 neighbors(%a = %h : !x) targets(%q = %s : !s) structure(%e = %edges : !set) -> (!x) {
    %g = gnn.gather %a at source of %e : !x, !set -> !m
    %t = gnn.aggregate mean %g at target of %e layer 2 conv 1 : !m, !set -> !x
    %w = gnn.load_weight @sparse : tensor<16x4xf32>
    %l = gnn.linear %q, %w primitive <csr crossover 0.5> : !s, tensor<16x4xf32> -> !x
    %b = gnn.load_weight @bias : tensor<16xf32>
    %c = gnn.add %t, %b : !x, tensor<16xf32> -> !x
    %d = gnn.add %c, %l : !x, !x -> !x
    %f = gnn.add %d, %a : !x, !x -> !x
    gnn.yield %f : !x
  }
  func.return %y : !x
}

// Loops load narrow numbers, add in 32 bits, and round when they store.
// LOOPS: func.func @kernel_0({{.*}}memref<?x?xbf16, strided<[?, 1]>>
// LOOPS: vector.load {{.*}} vector<16xbf16>
// LOOPS: arith.extf {{.*}} vector<16xbf16> to vector<16xf32>
// LOOPS: arith.addf {{.*}} : vector<16xf32>
// LOOPS: arith.truncf {{.*}} vector<16xf32> to vector<16xbf16>
// LOOPS: vector.store {{.*}} vector<16xbf16>
