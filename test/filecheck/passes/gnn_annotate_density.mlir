// RUN: gnnc-opt %s -p gnn-annotate-density | filecheck %s
// RUN: gnnc-opt %s -p gnn-annotate-density,gnn-annotate-density | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-split-conv-blocks,gnn-annotate-density,gnn-fuse-conv' | filecheck %s --check-prefix BLOCKS

// Inputs say their densities, that of A follows from counts; what is computed is `?` until run time.
!x = tensor<?x6xf32, #gnn.on<nodes "n">>
!m = tensor<?x6xf32, #gnn.on<edges "e.all">>
!h = tensor<?x4xf32, #gnn.on<nodes "n">>
!given = !gnn.edges<"e", "n" -> "n">
!none = !gnn.edges<"e.none", "n" -> "n">
!all = !gnn.edges<"e.all", "n" -> "n">
!some = !gnn.edges<"e.some", "n" -> "n">
builtin.module attributes {gnn.node_counts = {n = 10 : i64}} {
  gnn.weight @w : tensor<4x6xf32> {gnn.density = #gnn.density<20/24>}
  gnn.weight @v : tensor<4x4xf32>
  func.func @structure(%index: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index", gnn.edges = 30 : i64, gnn.loops = 2 : i64}, %mask: tensor<?xi1, #gnn.on<edges "e">> {gnn.name = "edge_mask"}) -> (!all, !some) {
    %e = gnn.relation %index : tensor<2x?xi64, #gnn.on<edges "e">> -> !given
    %none = gnn.without_loops %e : !given -> !none
    %all = gnn.with_loops %none : !none -> !all
    %some = gnn.where %e, %mask : !given, tensor<?xi1, #gnn.on<edges "e">> -> !some
    func.return %all, %some : !all, !some
  }
  // CHECK: func.func @forward
  func.func @forward(%x: !x {gnn.name = "x", gnn.density = #gnn.density<7/60>}, %e: !all {gnn.structure = 0 : i64}, %f: !some {gnn.structure = 1 : i64}) -> (!h, !h, !x) {
    %w = gnn.load_weight @w : tensor<4x6xf32>
    %v = gnn.load_weight @v : tensor<4x4xf32>

    // 30 edges, 2 of them loops, and then one loop for each of 10 nodes.
    // CHECK: gnn.aggregate sum {{.*}} densities [#gnn.density<38/100>, #gnn.density<7/60>]
    %g = gnn.gather %x at source of %e : !x, !all -> !m
    %one = gnn.fill 0.5 : f64 -> tensor<?x1xf32, #gnn.on<edges "e.all">>
    %s = gnn.mul %one, %g : tensor<?x1xf32, #gnn.on<edges "e.all">>, !m -> !m
    %a = gnn.aggregate sum %s at target of %e : !m, !all -> !x

    // CHECK: gnn.linear %x, %w densities [#gnn.density<7/60>, #gnn.density<20/24>]
    // CHECK: gnn.linear %{{.*}}, %w densities [#gnn.density<?>, #gnn.density<20/24>]
    // CHECK: gnn.linear %{{.*}}, %v densities [#gnn.density<?>, #gnn.density<?>]
    %y = gnn.linear %x, %w : !x, tensor<4x6xf32> -> !h
    %z = gnn.linear %a, %w : !x, tensor<4x6xf32> -> !h
    %u = gnn.linear %y, %v : !h, tensor<4x4xf32> -> !h

    // A mask leaves no one knows how many; messages of a nonlinear function are no rows of X.
    // CHECK: gnn.aggregate sum {{.*}} densities [#gnn.density<?>, #gnn.density<?>]
    %k = gnn.gather %x at source of %f : !x, !some -> tensor<?x6xf32, #gnn.on<edges "e.some">>
    %r = gnn.relu %k : tensor<?x6xf32, #gnn.on<edges "e.some">>
    %c = gnn.aggregate sum %r at target of %f : tensor<?x6xf32, #gnn.on<edges "e.some">>, !some -> !x
    func.return %z, %u, %c : !h, !h, !x
  }
}

// Through the arguments of blocks and of fused Convs.
// BLOCKS: gnn.conv_block
// BLOCKS: gnn.aggregate sum {{.*}} layer 1 conv {{.}} densities [#gnn.density<38/100>, #gnn.density<7/60>]
