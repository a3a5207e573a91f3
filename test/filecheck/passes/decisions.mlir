// RUN: gnnc-opt %s -p 'gnn-fold-weights,gnn-reorder-linear{degree=10},gnn-index-convs,gnn-split-conv-blocks{loads=10},gnn-annotate-density,gnn-select-primitives,gnn-fuse-conv' --print-debuginfo | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-select-primitives{columns=64 widths=16 dense=10.0 crossovers=0.25}' | filecheck %s --check-prefix MEASURED

// Each pass appends what it decided to the log of the module, with the price of each choice.
// CHECK: gnn.decisions = [
// CHECK-SAME: #gnn.decision<"gnn-fold-weights" on "batch norm of 16" at "m.py:3" chose "into the linear layer" predicted {"into the linear layer" = 0 : i64, "product and sum" = 6400 : i64, "batch norm" = 12800 : i64} measured {} in "ps a node">
// CHECK-SAME: #gnn.decision<"gnn-reorder-linear" on "linear 64 to 16 of one value" at "m.py:2" chose "A(XW)" predicted {"A(XW)" = {{[0-9]+}} : i64, "(AX)W" = {{[0-9]+}} : i64}
// CHECK-SAME: #gnn.decision<"gnn-split-conv-blocks" on "after layer 0 keep {{.*}} (64 bytes)" {{.*}} chose "minimum cut" predicted {"minimum cut" = 147200 : i64, "what the Convs give" = {{[0-9]+}} : i64, "what later layers use" = 147200 : i64}
// CHECK-SAME: #gnn.decision<"gnn-select-primitives" on "product 64 to 16 of given features, density 12.5%" {{.*}} chose "csr" predicted {dense = {{[0-9]+}} : i64, csr = {{[0-9]+}} : i64} measured {} in "ps a node">
// CHECK-SAME: #gnn.decision<"gnn-fuse-conv" on "sum of 64 bytes an edge" {{.*}} chose "one loop" predicted {"one loop" = 12800 : i64, "operation by operation" = 19200 : i64} measured {} in "ps an edge">
// MEASURED: #gnn.decision<"gnn-select-primitives" on "product 64 to 16 of given features, density unknown" at "m.py:2" chose "dense" predicted {} measured {dense = 20480 : i64} in "ps a node">
!wide = tensor<?x64xf32, #gnn.on<nodes "n">>
!thin = tensor<?x16xf32, #gnn.on<nodes "n">>
!m = tensor<?x64xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
gnn.weight @w : tensor<16x64xf32>
gnn.weight @mean : tensor<16xf32>
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !set {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !set
  func.return %e : !set
}
func.func @forward(%x: !wide {gnn.name = "x", gnn.density = #gnn.density<1/8>}, %e: !set {gnn.structure = 0 : i64}) -> (!thin, !thin) {
  %w = gnn.load_weight @w : tensor<16x64xf32>
  %v = gnn.load_weight @mean : tensor<16xf32>
  %g = gnn.gather %x at source of %e : !wide, !set -> !m loc("m.py":1:1)
  %s = gnn.aggregate sum %g at target of %e : !m, !set -> !wide loc("m.py":1:1)
  %y = gnn.linear %s, %w : !wide, tensor<16x64xf32> -> !thin loc("m.py":2:1)
  %n = gnn.batch_norm %y, %v, %v eps 1.0e-05 : !thin, tensor<16xf32>, tensor<16xf32> loc("m.py":3:1)
  %d = gnn.linear %x, %w : !wide, tensor<16x64xf32> -> !thin loc("m.py":2:1)
  func.return %n, %d : !thin, !thin
}
