// RUN: gnnc-opt %s | filecheck %s --check-prefix MODEL
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce | filecheck %s --check-prefix RAISED
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce,gnn-index-convs | filecheck %s --check-prefix INDEXED
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce,gnn-index-convs,gnn-split-conv-blocks | filecheck %s --check-prefix BLOCKS

// PyG's GraphSAGE of two layers, from the front end to ConvBlocks: sums and counts become means, the counts go.
!edges_ends = tensor<2x?xi64, #gnn.on<edges "edges">>
!set_of_edges = !gnn.edges<"edges", "nodes" -> "nodes">
!nodes_1 = tensor<?x1xf32, #gnn.on<nodes "nodes">>
!edges_i64 = tensor<?xi64, #gnn.on<edges "edges">>
!edges = tensor<?xf32, #gnn.on<edges "edges">>
!nodes = tensor<?xf32, #gnn.on<nodes "nodes">>
!nodes_8 = tensor<?x8xf32, #gnn.on<nodes "nodes">>
!nodes_3 = tensor<?x3xf32, #gnn.on<nodes "nodes">>
!edges_8 = tensor<?x8xf32, #gnn.on<edges "edges">>
!nodes_16 = tensor<?x16xf32, #gnn.on<nodes "nodes">>
!edges_16 = tensor<?x16xf32, #gnn.on<edges "edges">>
gnn.weight @convs.0.lin_l.bias : tensor<16xf32>
gnn.weight @convs.0.lin_l.weight : tensor<16x8xf32>
gnn.weight @convs.0.lin_r.weight : tensor<16x8xf32>
gnn.weight @convs.1.lin_l.bias : tensor<3xf32>
gnn.weight @convs.1.lin_l.weight : tensor<3x16xf32>
gnn.weight @convs.1.lin_r.weight : tensor<3x16xf32>
func.func @structure(%edge_index: !edges_ends {gnn.name = "edge_index"}) -> (!set_of_edges, !nodes_1) {
  %select = gnn.rowwise "aten.select.int"(%edge_index, 0, 0) : (!edges_ends) -> !edges_i64
  %select_1 = gnn.rowwise "aten.select.int"(%edge_index, 0, 1) : (!edges_ends) -> !edges_i64
  %edges = gnn.edge_set %select, %select_1 : !edges_i64, !edges_i64 -> !set_of_edges
  %0 = gnn.fill 1 : i64 -> !edges
  %1 = gnn.fill 0 : i64 -> !nodes
  %scatter_add = gnn.scatter sum %0 into %1 with_init at target of %edges : !edges, !nodes, !set_of_edges
  %clamp = gnn.rowwise "aten.clamp.default"(%scatter_add, 1) : (!nodes) -> !nodes
  %view = gnn.reshape %clamp : !nodes -> !nodes_1
  func.return %edges, %view : !set_of_edges, !nodes_1
}
func.func @forward(%x: !nodes_8 {gnn.name = "x"}, %edges: !set_of_edges {gnn.structure = 0 : i64}, %view: !nodes_1 {gnn.structure = 1 : i64}) -> !nodes_3 {
  %index_select = gnn.gather %x at source of %edges : !nodes_8, !set_of_edges -> !edges_8
  %0 = gnn.fill 0 : i64 -> !nodes_8
  %scatter_add = gnn.scatter sum %index_select into %0 with_init at target of %edges : !edges_8, !nodes_8, !set_of_edges
  %expand = gnn.broadcast %view : !nodes_1 -> !nodes_8
  %div = gnn.div %scatter_add, %expand : !nodes_8, !nodes_8 -> !nodes_8
  %1 = gnn.load_weight @convs.0.lin_l.bias : tensor<16xf32>
  %2 = gnn.load_weight @convs.0.lin_l.weight : tensor<16x8xf32>
  %linear = gnn.linear %div, %2, %1 : !nodes_8, tensor<16x8xf32>, tensor<16xf32> -> !nodes_16
  %3 = gnn.load_weight @convs.0.lin_r.weight : tensor<16x8xf32>
  %linear_1 = gnn.linear %x, %3 : !nodes_8, tensor<16x8xf32> -> !nodes_16
  %add = gnn.add %linear, %linear_1 : !nodes_16, !nodes_16 -> !nodes_16
  %relu = gnn.relu %add : !nodes_16
  %index_select_1 = gnn.gather %relu at source of %edges : !nodes_16, !set_of_edges -> !edges_16
  %4 = gnn.fill 0 : i64 -> !nodes_16
  %scatter_add_1 = gnn.scatter sum %index_select_1 into %4 with_init at target of %edges : !edges_16, !nodes_16, !set_of_edges
  %expand_1 = gnn.broadcast %view : !nodes_1 -> !nodes_16
  %div_1 = gnn.div %scatter_add_1, %expand_1 : !nodes_16, !nodes_16 -> !nodes_16
  %5 = gnn.load_weight @convs.1.lin_l.bias : tensor<3xf32>
  %6 = gnn.load_weight @convs.1.lin_l.weight : tensor<3x16xf32>
  %linear_2 = gnn.linear %div_1, %6, %5 : !nodes_16, tensor<3x16xf32>, tensor<3xf32> -> !nodes_3
  %7 = gnn.load_weight @convs.1.lin_r.weight : tensor<3x16xf32>
  %linear_3 = gnn.linear %relu, %7 : !nodes_16, tensor<3x16xf32> -> !nodes_3
  %add_1 = gnn.add %linear_2, %linear_3 : !nodes_3, !nodes_3 -> !nodes_3
  func.return %add_1 : !nodes_3
}

// MODEL-LABEL: func.func @structure(
// MODEL:       %edges = gnn.edge_set %select, %select_1 :
// MODEL:       %scatter_add = gnn.scatter sum %0 into %1 with_init at target of %edges :
// MODEL-LABEL: func.func @forward(
// MODEL:       %scatter_add = gnn.scatter sum %index_select into %0 with_init at target of %edges :
// MODEL:       %scatter_add_1 = gnn.scatter sum %index_select_1 into %4 with_init at target of %edges :
// MODEL-NOT:   gnn.aggregate

// RAISED-LABEL: func.func @structure(
// RAISED-NEXT:  %edges = gnn.relation %edge_index : tensor<2x?xi64, #gnn.on<edges "edges">> -> !gnn.edges<"edges", "nodes" -> "nodes">
// RAISED-NEXT:  func.return %edges :
// RAISED-LABEL: func.func @forward(
// RAISED-NEXT:  %index_select = gnn.gather %x at source of %edges :
// RAISED-NEXT:  %div = gnn.aggregate mean %index_select at target of %edges :
// RAISED-NEXT:  %0 = gnn.load_weight @convs.0.lin_l.bias :
// RAISED-NEXT:  %1 = gnn.load_weight @convs.0.lin_l.weight :
// RAISED-NEXT:  %linear = gnn.linear %div, %1, %0 :
// RAISED-NEXT:  %2 = gnn.load_weight @convs.0.lin_r.weight :
// RAISED-NEXT:  %linear_1 = gnn.linear %x, %2 :
// RAISED-NEXT:  %add = gnn.add %linear, %linear_1 :
// RAISED-NEXT:  %relu = gnn.relu %add :
// RAISED-NEXT:  %index_select_1 = gnn.gather %relu at source of %edges :
// RAISED-NEXT:  %div_1 = gnn.aggregate mean %index_select_1 at target of %edges :
// RAISED-NEXT:  %3 = gnn.load_weight @convs.1.lin_l.bias :
// RAISED-NEXT:  %4 = gnn.load_weight @convs.1.lin_l.weight :
// RAISED-NEXT:  %linear_2 = gnn.linear %div_1, %4, %3 :
// RAISED-NEXT:  %5 = gnn.load_weight @convs.1.lin_r.weight :
// RAISED-NEXT:  %linear_3 = gnn.linear %relu, %5 :
// RAISED-NEXT:  %add_1 = gnn.add %linear_2, %linear_3 :
// RAISED-NEXT:  func.return %add_1 :

// INDEXED-LABEL: func.func @forward(
// INDEXED:       %div = gnn.aggregate mean %index_select at target of %edges layer 1 conv 0 :
// INDEXED:       %div_1 = gnn.aggregate mean %index_select_1 at target of %edges layer 2 conv 1 :

// BLOCKS-LABEL: func.func @structure(
// BLOCKS-NEXT:  %edges = gnn.relation %edge_index : tensor<2x?xi64, #gnn.on<edges "edges">> -> !gnn.edges<"edges", "nodes" -> "nodes">
// BLOCKS-NEXT:  func.return %edges :
// BLOCKS-LABEL: func.func @forward(
// BLOCKS-NEXT:  %0 = gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x8xf32, #gnn.on<nodes "nodes">>) structure(%edges_1 = %edges : !gnn.edges<"edges", "nodes" -> "nodes">) -> (tensor<?x16xf32, #gnn.on<nodes "nodes">>)
// BLOCKS-NEXT:  %index_select = gnn.gather %x_1 at source of %edges_1 :
// BLOCKS-NEXT:  %div = gnn.aggregate mean %index_select at target of %edges_1 layer 1 conv 0 :
// BLOCKS-NEXT:  %1 = gnn.load_weight @convs.0.lin_l.bias :
// BLOCKS-NEXT:  %2 = gnn.load_weight @convs.0.lin_l.weight :
// BLOCKS-NEXT:  %linear = gnn.linear %div, %2, %1 :
// BLOCKS-NEXT:  %3 = gnn.load_weight @convs.0.lin_r.weight :
// BLOCKS-NEXT:  %linear_1 = gnn.linear %x_1, %3 :
// BLOCKS-NEXT:  %add = gnn.add %linear, %linear_1 :
// BLOCKS-NEXT:  %relu = gnn.relu %add :
// BLOCKS-NEXT:  gnn.yield %relu :
// BLOCKS-NEXT:  }
// BLOCKS-NEXT:  %1 = gnn.conv_block layer 2 neighbors(%relu = %0 : tensor<?x16xf32, #gnn.on<nodes "nodes">>) structure(%edges_1 = %edges : !gnn.edges<"edges", "nodes" -> "nodes">) -> (tensor<?x3xf32, #gnn.on<nodes "nodes">>)
// BLOCKS-NEXT:  %index_select = gnn.gather %relu at source of %edges_1 :
// BLOCKS-NEXT:  %div = gnn.aggregate mean %index_select at target of %edges_1 layer 2 conv 1 :
// BLOCKS-NEXT:  %2 = gnn.load_weight @convs.1.lin_l.bias :
// BLOCKS-NEXT:  %3 = gnn.load_weight @convs.1.lin_l.weight :
// BLOCKS-NEXT:  %linear = gnn.linear %div, %3, %2 :
// BLOCKS-NEXT:  %4 = gnn.load_weight @convs.1.lin_r.weight :
// BLOCKS-NEXT:  %linear_1 = gnn.linear %relu, %4 :
// BLOCKS-NEXT:  %add = gnn.add %linear, %linear_1 :
// BLOCKS-NEXT:  gnn.yield %add :
// BLOCKS-NEXT:  }
// BLOCKS-NEXT:  func.return %1 :
