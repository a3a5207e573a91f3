// RUN: gnnc-opt %s -p 'convert-gnn-to-kernel{order=AH_W},dce' | filecheck %s --check-prefix AGGREGATE
// RUN: gnnc-opt %s -p 'convert-gnn-to-kernel{order=A_HW},dce' | filecheck %s --check-prefix UPDATE
// RUN: gnnc-opt %s -p 'gnn-split-conv-blocks,convert-gnn-to-kernel{order=A_HW},dce' | filecheck %s --check-prefix UPDATE

// A layer of GraphSAGE: A is a mean, the own node a second product.
!n8 = tensor<?x8xf32, #gnn.on<nodes "n">>
!n4 = tensor<?x4xf32, #gnn.on<nodes "n">>
!e = !gnn.edges<"e", "n" -> "n">
gnn.weight @l : tensor<4x8xf32>
gnn.weight @r : tensor<4x8xf32>
gnn.weight @b : tensor<4xf32>
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !n8 {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !n4 {
  %m = gnn.gather %x at source of %e : !n8, !e -> tensor<?x8xf32, #gnn.on<edges "e">>
  %a = gnn.aggregate mean %m at target of %e layer 1 conv 0 : tensor<?x8xf32, #gnn.on<edges "e">>, !e -> !n8
  %l = gnn.load_weight @l : tensor<4x8xf32>
  %b = gnn.load_weight @b : tensor<4xf32>
  %u = gnn.linear %a, %l, %b : !n8, tensor<4x8xf32>, tensor<4xf32> -> !n4
  %r = gnn.load_weight @r : tensor<4x8xf32>
  %v = gnn.linear %x, %r : !n8, tensor<4x8xf32> -> !n4
  %s = gnn.add %u, %v : !n4, !n4 -> !n4
  %y = gnn.relu %s : !n4
  func.return %y : !n4
}

// AGGREGATE:      func.func @structure
// AGGREGATE:        kernel.adjacency mean at target of
// AGGREGATE:      func.func @weights
// AGGREGATE-DAG:    kernel.transpose
// AGGREGATE:      func.func @forward
// AGGREGATE-NEXT:   %[[H:\S+]] = kernel.aggregate %{{\S+}} times %x layer 1
// AGGREGATE-NEXT:   %[[Y:\S+]] = kernel.update %[[H]], %x times %{{\S+}}, %{{\S+}} bias %{{\S+}} activation <relu> layer 1
// AGGREGATE-NEXT:   func.return %[[Y]]

// UPDATE:      func.func @forward
// UPDATE-NEXT:   %[[U:\S+]] = kernel.update %x times %{{\S+}} layer 1
// UPDATE-NEXT:   %[[V:\S+]] = kernel.update %x times %{{\S+}} layer 1
// UPDATE-NEXT:   %[[Y:\S+]] = kernel.aggregate %{{\S+}} times %[[U]] plus %[[V]] bias %{{\S+}} activation <relu> layer 1
// UPDATE-NEXT:   func.return %[[Y]]
