// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=3},gnn-draw-samples' 2>&1 | filecheck %s --check-prefix VALUES
// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-split-conv-blocks,gnn-sample-neighbors{fanout=3},gnn-draw-samples' 2>&1 | filecheck %s --check-prefix BLOCKS

!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %w: !m {gnn.name = "edge_attr"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m = gnn.gather %x at source of %e : !x, !e -> !m
  %p = gnn.mul %m, %w : !m, !m -> !m
  %h = gnn.aggregate sum %p at target of %e : !m, !e -> !x
  func.return %h : !x
}

// VALUES: a value of all edges goes into the model: it can't be drawn beforehand
// BLOCKS: @forward is split into blocks: run gnn-inline-conv-blocks first
