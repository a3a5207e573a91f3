// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10,10}' 2>&1 | filecheck %s
// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10,-1}' 2>&1 | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=-1,-1}' | filecheck %s --check-prefix ALL

// The attention of the first layer weighs the messages of the second, too, where other edges are drawn.
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
func.func @forward(%x: !x {gnn.name = "x"}, %p: tensor<?x1xf32, #gnn.on<nodes "n">> {gnn.name = "p"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %score = gnn.gather %p at source of %e : tensor<?x1xf32, #gnn.on<nodes "n">>, !e -> !s
  %a = gnn.edge_softmax %score at target of %e eps 1.0e-16 : !s, !e
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %w1 = gnn.mul %m1, %a : !m, !s -> !m
  %h1 = gnn.aggregate sum %w1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h1 at source of %e : !x, !e -> !m
  %w2 = gnn.mul %m2, %a : !m, !s -> !m
  %h2 = gnn.aggregate sum %w2 at target of %e : !m, !e -> !x
  func.return %h2 : !x
}

// CHECK: attention of layer 1 is used again in layer 2, whose sample is another one: run the model without fan-outs
// ALL-NOT: sample
