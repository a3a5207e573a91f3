// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10,5 seed=3}' | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-split-conv-blocks,gnn-sample-neighbors{fanout=10,5 seed=3}' | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10,5 seed=3},gnn-split-conv-blocks' | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=-1,5}' | filecheck %s --check-prefix FIRST
// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=9,9 seed=1},gnn-sample-neighbors{fanout=-1,-1}' | filecheck %s --check-prefix NONE

// Every reduction of a Conv gets its layer's sample, softmax and sum alike; what needs no neighbour sees all edges. It makes
// no difference whether the module has been split. A fan-out of -1 takes a sample away.
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
func.func @forward(%x: !x {gnn.name = "x"}, %p: tensor<?x1xf32, #gnn.on<nodes "n">> {gnn.name = "p"}, %e: !e {gnn.structure = 0 : i64}) -> (!x, !x) {
  %own = gnn.gather %x at target of %e : !x, !e -> !m
  %zero = gnn.aggregate sum %own at target of %e : !m, !e -> !x
  %score = gnn.gather %p at source of %e : tensor<?x1xf32, #gnn.on<nodes "n">>, !e -> !s
  %a = gnn.edge_softmax %score at target of %e eps 1.0e-16 : !s, !e
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %w1 = gnn.mul %m1, %a : !m, !s -> !m
  %h1 = gnn.aggregate sum %w1 at target of %e : !m, !e -> !x
  %m2 = gnn.gather %h1 at source of %e : !x, !e -> !m
  %h2 = gnn.scatter max %m2 into %h1 at target of %e : !m, !x, !e
  func.return %h2, %zero : !x, !x
}

// CHECK-DAG: gnn.aggregate sum %own at target of %{{\S+}} layer 0 conv 0 :
// CHECK-DAG: gnn.edge_softmax %score at target of %{{\S+}} eps 1.000000e-16 layer 1 conv 1 sample <fanout 10 seed 3> :
// CHECK-DAG: gnn.aggregate sum %w1 at target of %{{\S+}} layer 1 conv 1 sample <fanout 10 seed 3> :
// CHECK-DAG: gnn.scatter max %m2 into %{{\S+}} at target of %{{\S+}} layer 2 conv 2 sample <fanout 5 seed 3> :

// FIRST: gnn.aggregate sum %own at target of %e layer 0 conv 0 :
// FIRST: gnn.edge_softmax %score at target of %e eps 1.000000e-16 layer 1 conv 1 :
// FIRST: gnn.aggregate sum %w1 at target of %e layer 1 conv 1 :
// FIRST: gnn.scatter max %m2 into %h1 at target of %e layer 2 conv 2 sample <fanout 5 seed 0> :

// NONE-NOT: sample
