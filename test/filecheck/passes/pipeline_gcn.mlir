// RUN: gnnc-opt %s | filecheck %s --check-prefix MODEL
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce | filecheck %s --check-prefix RAISED
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce,gnn-index-convs | filecheck %s --check-prefix INDEXED
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce,gnn-index-convs,gnn-split-conv-blocks | filecheck %s --check-prefix BLOCKS

// PyG's GCN of two layers, from the front end to ConvBlocks: the normalisation is one degree a node, the projection of a layer
// belongs to the block before it.
!edges_ends = tensor<2x?xi64, #gnn.on<edges "edges">>
!set_of_edges2 = !gnn.edges<"edges.2", "nodes" -> "nodes">
!nodes = tensor<?xf32, #gnn.on<nodes "nodes">>
!edges_i64 = tensor<?xi64, #gnn.on<edges "edges">>
!edges_i1 = tensor<?xi1, #gnn.on<edges "edges">>
!edges1_ends = tensor<2x?xi64, #gnn.on<edges "edges.1">>
!nodes_i64 = tensor<?xi64, #gnn.on<nodes "nodes">>
!nodes_row = tensor<1x?xi64, #gnn.on<nodes "nodes">>
!nodes_ends = tensor<2x?xi64, #gnn.on<nodes "nodes">>
!edges2_ends = tensor<2x?xi64, #gnn.on<edges "edges.2">>
!edges2_i64 = tensor<?xi64, #gnn.on<edges "edges.2">>
!edges2 = tensor<?xf32, #gnn.on<edges "edges.2">>
!nodes_i1 = tensor<?xi1, #gnn.on<nodes "nodes">>
!nodes_8 = tensor<?x8xf32, #gnn.on<nodes "nodes">>
!nodes_3 = tensor<?x3xf32, #gnn.on<nodes "nodes">>
!nodes_16 = tensor<?x16xf32, #gnn.on<nodes "nodes">>
!edges2_16 = tensor<?x16xf32, #gnn.on<edges "edges.2">>
!edges2_1 = tensor<?x1xf32, #gnn.on<edges "edges.2">>
!edges2_3 = tensor<?x3xf32, #gnn.on<edges "edges.2">>
gnn.weight @convs.0.lin.weight : tensor<16x8xf32>
gnn.weight @convs.0.bias : tensor<16xf32>
gnn.weight @convs.1.lin.weight : tensor<3x16xf32>
gnn.weight @convs.1.bias : tensor<3xf32>
func.func @structure(%edge_index: !edges_ends {gnn.name = "edge_index"}) -> (!set_of_edges2, !nodes) {
  %select = gnn.rowwise "aten.select.int"(%edge_index, 0, 0) : (!edges_ends) -> !edges_i64
  %select_1 = gnn.rowwise "aten.select.int"(%edge_index, 0, 1) : (!edges_ends) -> !edges_i64
  %ne = gnn.rowwise "aten.ne.Tensor"(%select, %select_1) : (!edges_i64, !edges_i64) -> !edges_i1
  %index = gnn.whole_graph "aten.index.Tensor"(%edge_index, [none, %ne]) : (!edges_ends, !edges_i1) -> !edges1_ends
  %0 = gnn.count on<nodes "nodes">
  %arange = gnn.whole_graph "aten.arange.start"(0, %0) : (index) -> !nodes_i64
  %view = gnn.reshape %arange : !nodes_i64 -> !nodes_row
  %repeat = gnn.rowwise "aten.repeat.default"(%view, [2, 1]) : (!nodes_row) -> !nodes_ends
  %cat = gnn.whole_graph "aten.cat.default"([%index, %repeat], 1) : (!edges1_ends, !nodes_ends) -> !edges2_ends
  %select_2 = gnn.rowwise "aten.select.int"(%cat, 0, 0) : (!edges2_ends) -> !edges2_i64
  %select_3 = gnn.rowwise "aten.select.int"(%cat, 0, 1) : (!edges2_ends) -> !edges2_i64
  %edges = gnn.edge_set %select_2, %select_3 : !edges2_i64, !edges2_i64 -> !set_of_edges2
  %1 = gnn.fill 1 : i64 -> !edges2
  %2 = gnn.fill 0 : i64 -> !nodes
  %scatter_add = gnn.scatter sum %1 into %2 with_init at target of %edges : !edges2, !nodes, !set_of_edges2
  %pow = gnn.rowwise "aten.pow.Tensor_Scalar"(%scatter_add, -5.000000e-01 : f64) : (!nodes) -> !nodes
  %eq = gnn.rowwise "aten.eq.Scalar"(%pow, 0x7ff0000000000000 : f64) : (!nodes) -> !nodes_i1
  %masked_fill = gnn.rowwise "aten.masked_fill.Scalar"(%pow, %eq, 0) : (!nodes, !nodes_i1) -> !nodes
  func.return %edges, %masked_fill : !set_of_edges2, !nodes
}
func.func @forward(%x: !nodes_8 {gnn.name = "x"}, %edges: !set_of_edges2 {gnn.structure = 0 : i64}, %masked_fill: !nodes {gnn.structure = 1 : i64}) -> !nodes_3 {
  %0 = gnn.load_weight @convs.0.lin.weight : tensor<16x8xf32>
  %linear = gnn.linear %x, %0 : !nodes_8, tensor<16x8xf32> -> !nodes_16
  %index_select = gnn.gather %linear at source of %edges : !nodes_16, !set_of_edges2 -> !edges2_16
  %index = gnn.gather %masked_fill at source of %edges : !nodes, !set_of_edges2 -> !edges2
  %1 = gnn.fill 1 : i64 -> !edges2
  %mul = gnn.mul %index, %1 : !edges2, !edges2 -> !edges2
  %index_1 = gnn.gather %masked_fill at target of %edges : !nodes, !set_of_edges2 -> !edges2
  %mul_1 = gnn.mul %mul, %index_1 : !edges2, !edges2 -> !edges2
  %view = gnn.reshape %mul_1 : !edges2 -> !edges2_1
  %mul_2 = gnn.mul %view, %index_select : !edges2_1, !edges2_16 -> !edges2_16
  %2 = gnn.fill 0 : i64 -> !nodes_16
  %scatter_add = gnn.scatter sum %mul_2 into %2 with_init at target of %edges : !edges2_16, !nodes_16, !set_of_edges2
  %3 = gnn.load_weight @convs.0.bias : tensor<16xf32>
  %add = gnn.add %scatter_add, %3 : !nodes_16, tensor<16xf32> -> !nodes_16
  %relu = gnn.relu %add : !nodes_16
  %4 = gnn.load_weight @convs.1.lin.weight : tensor<3x16xf32>
  %linear_1 = gnn.linear %relu, %4 : !nodes_16, tensor<3x16xf32> -> !nodes_3
  %index_select_1 = gnn.gather %linear_1 at source of %edges : !nodes_3, !set_of_edges2 -> !edges2_3
  %mul_3 = gnn.mul %view, %index_select_1 : !edges2_1, !edges2_3 -> !edges2_3
  %5 = gnn.fill 0 : i64 -> !nodes_3
  %scatter_add_1 = gnn.scatter sum %mul_3 into %5 with_init at target of %edges : !edges2_3, !nodes_3, !set_of_edges2
  %6 = gnn.load_weight @convs.1.bias : tensor<3xf32>
  %add_1 = gnn.add %scatter_add_1, %6 : !nodes_3, tensor<3xf32> -> !nodes_3
  func.return %add_1 : !nodes_3
}

// MODEL-LABEL: func.func @structure(
// MODEL:       %edges = gnn.edge_set %select_2, %select_3 :
// MODEL:       %scatter_add = gnn.scatter sum %1 into %2 with_init at target of %edges :
// MODEL-LABEL: func.func @forward(
// MODEL:       %scatter_add = gnn.scatter sum %mul_2 into %2 with_init at target of %edges :
// MODEL:       %scatter_add_1 = gnn.scatter sum %mul_3 into %5 with_init at target of %edges :
// MODEL-NOT:   gnn.aggregate

// RAISED-LABEL: func.func @structure(
// RAISED-NEXT:  %0 = gnn.relation %edge_index : tensor<2x?xi64, #gnn.on<edges "edges">> -> !gnn.edges<"edges", "nodes" -> "nodes">
// RAISED-NEXT:  %1 = gnn.without_loops %0 : !gnn.edges<"edges", "nodes" -> "nodes"> -> !gnn.edges<"edges.1", "nodes" -> "nodes">
// RAISED-NEXT:  %edges = gnn.with_loops %1 : !gnn.edges<"edges.1", "nodes" -> "nodes"> -> !gnn.edges<"edges.2", "nodes" -> "nodes">
// RAISED-NEXT:  %2 = gnn.fill 1 :
// RAISED-NEXT:  %scatter_add = gnn.aggregate sum %2 at target of %edges :
// RAISED-NEXT:  %pow = gnn.rowwise "aten.pow.Tensor_Scalar"(%scatter_add, -5.000000e-01 :
// RAISED-NEXT:  %eq = gnn.rowwise "aten.eq.Scalar"(%pow, 0x7ff0000000000000 :
// RAISED-NEXT:  %masked_fill = gnn.rowwise "aten.masked_fill.Scalar"(%pow, %eq, 0) :
// RAISED-NEXT:  func.return %edges, %masked_fill :
// RAISED-LABEL: func.func @forward(
// RAISED-NEXT:  %0 = gnn.load_weight @convs.0.lin.weight :
// RAISED-NEXT:  %linear = gnn.linear %x, %0 :
// RAISED-NEXT:  %index_select = gnn.gather %linear at source of %edges :
// RAISED-NEXT:  %index = gnn.gather %masked_fill at source of %edges :
// RAISED-NEXT:  %index_1 = gnn.gather %masked_fill at target of %edges :
// RAISED-NEXT:  %mul = gnn.mul %index, %index_1 :
// RAISED-NEXT:  %view = gnn.reshape %mul :
// RAISED-NEXT:  %mul_1 = gnn.mul %view, %index_select :
// RAISED-NEXT:  %scatter_add = gnn.aggregate sum %mul_1 at target of %edges :
// RAISED-NEXT:  %1 = gnn.load_weight @convs.0.bias :
// RAISED-NEXT:  %add = gnn.add %scatter_add, %1 :
// RAISED-NEXT:  %relu = gnn.relu %add :
// RAISED-NEXT:  %2 = gnn.load_weight @convs.1.lin.weight :
// RAISED-NEXT:  %linear_1 = gnn.linear %relu, %2 :
// RAISED-NEXT:  %index_select_1 = gnn.gather %linear_1 at source of %edges :
// RAISED-NEXT:  %mul_2 = gnn.mul %view, %index_select_1 :
// RAISED-NEXT:  %scatter_add_1 = gnn.aggregate sum %mul_2 at target of %edges :
// RAISED-NEXT:  %3 = gnn.load_weight @convs.1.bias :
// RAISED-NEXT:  %add_1 = gnn.add %scatter_add_1, %3 :
// RAISED-NEXT:  func.return %add_1 :

// INDEXED-LABEL: func.func @forward(
// INDEXED:       %scatter_add = gnn.aggregate sum %mul_1 at target of %edges layer 1 conv 0 :
// INDEXED:       %scatter_add_1 = gnn.aggregate sum %mul_2 at target of %edges layer 2 conv 1 :

// BLOCKS-LABEL: func.func @structure(
// BLOCKS-NEXT:  %0 = gnn.relation %edge_index : tensor<2x?xi64, #gnn.on<edges "edges">> -> !gnn.edges<"edges", "nodes" -> "nodes">
// BLOCKS-NEXT:  %1 = gnn.without_loops %0 : !gnn.edges<"edges", "nodes" -> "nodes"> -> !gnn.edges<"edges.1", "nodes" -> "nodes">
// BLOCKS-NEXT:  %edges = gnn.with_loops %1 : !gnn.edges<"edges.1", "nodes" -> "nodes"> -> !gnn.edges<"edges.2", "nodes" -> "nodes">
// BLOCKS-NEXT:  %2 = gnn.fill 1 :
// BLOCKS-NEXT:  %scatter_add = gnn.aggregate sum %2 at target of %edges :
// BLOCKS-NEXT:  %pow = gnn.rowwise "aten.pow.Tensor_Scalar"(%scatter_add, -5.000000e-01 :
// BLOCKS-NEXT:  %eq = gnn.rowwise "aten.eq.Scalar"(%pow, 0x7ff0000000000000 :
// BLOCKS-NEXT:  %masked_fill = gnn.rowwise "aten.masked_fill.Scalar"(%pow, %eq, 0) :
// BLOCKS-NEXT:  func.return %edges, %masked_fill :
// BLOCKS-LABEL: func.func @forward(
// BLOCKS-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x8xf32, #gnn.on<nodes "nodes">>) structure(%edges_1 = %edges : !gnn.edges<"edges.2", "nodes" -> "nodes">, %masked_fill_1 = %masked_fill : tensor<?xf32, #gnn.on<nodes "nodes">>) -> (tensor<?x3xf32, #gnn.on<nodes "nodes">>)
// BLOCKS-NEXT:  %1 = gnn.load_weight @convs.0.lin.weight :
// BLOCKS-NEXT:  %linear = gnn.linear %x_1, %1 :
// BLOCKS-NEXT:  %index_select = gnn.gather %linear at source of %edges_1 :
// BLOCKS-NEXT:  %index = gnn.gather %masked_fill_1 at source of %edges_1 :
// BLOCKS-NEXT:  %index_1 = gnn.gather %masked_fill_1 at target of %edges_1 :
// BLOCKS-NEXT:  %mul = gnn.mul %index, %index_1 :
// BLOCKS-NEXT:  %view = gnn.reshape %mul :
// BLOCKS-NEXT:  %mul_1 = gnn.mul %view, %index_select :
// BLOCKS-NEXT:  %scatter_add = gnn.aggregate sum %mul_1 at target of %edges_1 layer 1 conv 0 :
// BLOCKS-NEXT:  %2 = gnn.load_weight @convs.0.bias :
// BLOCKS-NEXT:  %add = gnn.add %scatter_add, %2 :
// BLOCKS-NEXT:  %relu = gnn.relu %add :
// BLOCKS-NEXT:  %3 = gnn.load_weight @convs.1.lin.weight :
// BLOCKS-NEXT:  %linear_1 = gnn.linear %relu, %3 :
// BLOCKS-NEXT:  gnn.yield %linear_1 :
// BLOCKS-NEXT:  }
// BLOCKS-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%linear = %0 : tensor<?x3xf32, #gnn.on<nodes "nodes">>) structure(%edges_1 = %edges : !gnn.edges<"edges.2", "nodes" -> "nodes">, %masked_fill_1 = %masked_fill : tensor<?xf32, #gnn.on<nodes "nodes">>) -> (tensor<?x3xf32, #gnn.on<nodes "nodes">>)
// BLOCKS-NEXT:  %index = gnn.gather %masked_fill_1 at source of %edges_1 :
// BLOCKS-NEXT:  %index_1 = gnn.gather %masked_fill_1 at target of %edges_1 :
// BLOCKS-NEXT:  %mul = gnn.mul %index, %index_1 :
// BLOCKS-NEXT:  %view = gnn.reshape %mul :
// BLOCKS-NEXT:  %index_select = gnn.gather %linear at source of %edges_1 :
// BLOCKS-NEXT:  %mul_1 = gnn.mul %view, %index_select :
// BLOCKS-NEXT:  %scatter_add = gnn.aggregate sum %mul_1 at target of %edges_1 layer 2 conv 1 :
// BLOCKS-NEXT:  %2 = gnn.load_weight @convs.1.bias :
// BLOCKS-NEXT:  %add = gnn.add %scatter_add, %2 :
// BLOCKS-NEXT:  gnn.yield %add :
// BLOCKS-NEXT:  }
// BLOCKS-NEXT:  func.return %1 :
