// RUN: not gnnc-opt %s -p 'gnn-sample-neighbors{fanout=10}' 2>&1 | filecheck %s --check-prefix LEVEL
// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10,10}' 2>&1 | filecheck %s --check-prefix MANY
// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=0}' 2>&1 | filecheck %s --check-prefix ZERO
// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=-2}' 2>&1 | filecheck %s --check-prefix NEGATIVE
// RUN: not gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=10}' 2>&1 | filecheck %s --check-prefix ORIGIN
// RUN: gnnc-opt %s -p 'gnn-index-convs,gnn-sample-neighbors{fanout=-1}' | filecheck %s --check-prefix ALL

// The edges are what the model makes of two index tensors: the loops among them may be added ones or not.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!i = tensor<?xi64, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%s: !i {gnn.name = "edge_source"}, %t: !i {gnn.name = "edge_target"}) -> !e {
  %e = gnn.edge_set %s, %t : !i, !i -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m = gnn.gather %x at source of %e : !x, !e -> !m
  %h = gnn.aggregate sum %m at target of %e : !m, !e -> !x
  func.return %h : !x
}

// LEVEL: gnn.aggregate has no layer yet: run gnn-index-convs first
// MANY: 2 fan-outs are given and the model has 1 layers of Convs: give one for each, the first layer's first, -1 for all neighbours
// ZERO: 0 is no fan-out: give how many neighbours to draw, or -1 for all of them
// NEGATIVE: -2 is no fan-out: give how many neighbours to draw, or -1 for all of them
// ORIGIN: gnn.aggregate of layer 1 runs over "e", edges that the model makes up by index arithmetic: which of them are the graph's own is not known, so none can be drawn
// ALL: gnn.aggregate sum %m at target of %e layer 1 conv 0 :
