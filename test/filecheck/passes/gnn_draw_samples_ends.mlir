// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=3},gnn-draw-samples' 2>&1 | filecheck %s

// A reduction over the edges, of messages that are made over their reverse.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, !e) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %r = gnn.reverse %e : !e -> !e
  func.return %e, %r : !e, !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %r: !e {gnn.structure = 1 : i64}) -> !x {
  %m = gnn.gather %x at target of %r : !x, !e -> !m
  %h = gnn.aggregate sum %m at target of %e : !m, !e -> !x
  func.return %h : !x
}

// CHECK: samples of edges that are met from both of their ends can't be drawn beforehand
