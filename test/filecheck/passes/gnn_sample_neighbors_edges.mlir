// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10}' 2>&1 | filecheck %s

// Attention is returned, for all edges.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e.2">>
!s = tensor<?x1xf32, #gnn.on<edges "e.2">>
!e = !gnn.edges<"e.2", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %r = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
  %o = gnn.without_loops %r : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.1", "n" -> "n">
  %e = gnn.with_loops %o : !gnn.edges<"e.1", "n" -> "n"> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> (!m, !x) {
  %m = gnn.gather %x at source of %e : !x, !e -> !m
  %a = gnn.edge_softmax %m at target of %e eps 0.0 : !m, !e
  %h = gnn.aggregate sum %a at target of %e : !m, !e -> !x
  func.return %a, %h : !m, !x
}

// CHECK: the model returns, keeps or reduces values of all edges, and a sample has not all of them: run it without fan-outs
