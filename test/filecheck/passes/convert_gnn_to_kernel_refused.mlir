// RUN: gnnc-opt %s -p convert-gnn-to-kernel --split-input-file --verify-diagnostics | filecheck %s

// What does not fold is named with its line of the model.
!n = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !n {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !n {
  %g = gnn.gather %x at source of %e : !n, !e -> !m
  %s = gnn.edge_softmax %g at target of %e eps 1.0e-16 layer 1 conv 0 : !m, !e loc("model.py":7:0)
  %p = gnn.mul %s, %g : !m, !m -> !m loc("model.py":8:0)
  %y = gnn.aggregate sum %p at target of %e layer 1 conv 0 : !m, !e -> !n
  func.return %y : !n
}
// CHECK: gnn.edge_softmax at model.py:7: attention computes its matrix from features, which no static task stream can hold

// -----

!n = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !n {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !n {
  %g = gnn.gather %x at source of %e : !n, !e -> !m
  %p = gnn.mul %g, %g : !m, !m -> !m loc("model.py":8:0)
  %y = gnn.aggregate sum %p at target of %e layer 1 conv 0 : !m, !e -> !n
  func.return %y : !n
}
// CHECK: gnn.mul at model.py:8: a message must be a neighbour's value times numbers that the graph gives; this one depends on features

// -----

!n = tensor<?x4xf32, #gnn.on<nodes "n">>
func.func @structure() {
  func.return
}
func.func @forward(%x: !n {gnn.name = "x"}) -> !n {
  %y = gnn.relu %x : !n
  func.return %y : !n
}
// CHECK: @forward has no matrix product: there is nothing for the accelerator to do
