// RUN: gnnc-opt %s | filecheck %s --check-prefix MODEL
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce | filecheck %s --check-prefix RAISED
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce,gnn-index-convs | filecheck %s --check-prefix INDEXED
// RUN: gnnc-opt %s -p cse,gnn-raise-edge-sets,gnn-raise-messages,canonicalize,cse,gnn-prune-structure,dce,gnn-index-convs,gnn-split-conv-blocks | filecheck %s --check-prefix BLOCKS

// PyG's GAT of two layers and two heads, from the front end to ConvBlocks: three scatters a layer become a softmax and a sum.
!edges_ends = tensor<2x?xi64, #gnn.on<edges "edges">>
!set_of_edges2 = !gnn.edges<"edges.2", "nodes" -> "nodes">
!edges_i64 = tensor<?xi64, #gnn.on<edges "edges">>
!edges_i1 = tensor<?xi1, #gnn.on<edges "edges">>
!edges1_ends = tensor<2x?xi64, #gnn.on<edges "edges.1">>
!nodes_i64 = tensor<?xi64, #gnn.on<nodes "nodes">>
!nodes_row = tensor<1x?xi64, #gnn.on<nodes "nodes">>
!nodes_ends = tensor<2x?xi64, #gnn.on<nodes "nodes">>
!edges2_ends = tensor<2x?xi64, #gnn.on<edges "edges.2">>
!edges2_i64 = tensor<?xi64, #gnn.on<edges "edges.2">>
!nodes_8 = tensor<?x8xf32, #gnn.on<nodes "nodes">>
!nodes_3 = tensor<?x3xf32, #gnn.on<nodes "nodes">>
!nodes_2x4 = tensor<?x2x4xf32, #gnn.on<nodes "nodes">>
!nodes_2 = tensor<?x2xf32, #gnn.on<nodes "nodes">>
!edges2_2 = tensor<?x2xf32, #gnn.on<edges "edges.2">>
!edges2_2x4 = tensor<?x2x4xf32, #gnn.on<edges "edges.2">>
!edges2_2x1 = tensor<?x2x1xf32, #gnn.on<edges "edges.2">>
!nodes_6 = tensor<?x6xf32, #gnn.on<nodes "nodes">>
!nodes_2x3 = tensor<?x2x3xf32, #gnn.on<nodes "nodes">>
!edges2_2x3 = tensor<?x2x3xf32, #gnn.on<edges "edges.2">>
gnn.weight @convs.0.lin.weight : tensor<8x8xf32>
gnn.weight @convs.0.att_src : tensor<1x2x4xf32>
gnn.weight @convs.0.att_dst : tensor<1x2x4xf32>
gnn.weight @convs.0.bias : tensor<8xf32>
gnn.weight @convs.1.lin.weight : tensor<6x8xf32>
gnn.weight @convs.1.att_src : tensor<1x2x3xf32>
gnn.weight @convs.1.att_dst : tensor<1x2x3xf32>
gnn.weight @convs.1.bias : tensor<3xf32>
func.func @structure(%edge_index: !edges_ends {gnn.name = "edge_index"}) -> !set_of_edges2 {
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
  func.return %edges : !set_of_edges2
}
func.func @forward(%x: !nodes_8 {gnn.name = "x"}, %edges: !set_of_edges2 {gnn.structure = 0 : i64}) -> !nodes_3 {
  %0 = gnn.load_weight @convs.0.lin.weight : tensor<8x8xf32>
  %linear = gnn.linear %x, %0 : !nodes_8, tensor<8x8xf32> -> !nodes_8
  %view = gnn.reshape %linear : !nodes_8 -> !nodes_2x4
  %1 = gnn.load_weight @convs.0.att_src : tensor<1x2x4xf32>
  %mul = gnn.mul %view, %1 : !nodes_2x4, tensor<1x2x4xf32> -> !nodes_2x4
  %sum = gnn.rowwise "aten.sum.dim_IntList"(%mul, [-1]) : (!nodes_2x4) -> !nodes_2
  %2 = gnn.load_weight @convs.0.att_dst : tensor<1x2x4xf32>
  %mul_1 = gnn.mul %view, %2 : !nodes_2x4, tensor<1x2x4xf32> -> !nodes_2x4
  %sum_1 = gnn.rowwise "aten.sum.dim_IntList"(%mul_1, [-1]) : (!nodes_2x4) -> !nodes_2
  %index_select = gnn.gather %sum at source of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %index_select_1 = gnn.gather %sum_1 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %add = gnn.add %index_select, %index_select_1 : !edges2_2, !edges2_2 -> !edges2_2
  %leaky_relu = gnn.leaky_relu %add slope 2.000000e-01 : !edges2_2
  %3 = gnn.fill 0 : i64 -> !nodes_2
  %scatter_reduce = gnn.scatter max %leaky_relu into %3 at target of %edges : !edges2_2, !nodes_2, !set_of_edges2
  %index_select_2 = gnn.gather %scatter_reduce at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %sub = gnn.sub %leaky_relu, %index_select_2 : !edges2_2, !edges2_2 -> !edges2_2
  %exp = gnn.exp %sub : !edges2_2
  %scatter_add = gnn.scatter sum %exp into %3 with_init at target of %edges : !edges2_2, !nodes_2, !set_of_edges2
  %4 = gnn.constant 1.000000e-16 : f64 -> tensor<f64>
  %add_1 = gnn.add %scatter_add, %4 : !nodes_2, tensor<f64> -> !nodes_2
  %index_select_3 = gnn.gather %add_1 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %div = gnn.div %exp, %index_select_3 : !edges2_2, !edges2_2 -> !edges2_2
  %index_select_4 = gnn.gather %view at source of %edges : !nodes_2x4, !set_of_edges2 -> !edges2_2x4
  %unsqueeze = gnn.reshape %div : !edges2_2 -> !edges2_2x1
  %mul_2 = gnn.mul %unsqueeze, %index_select_4 : !edges2_2x1, !edges2_2x4 -> !edges2_2x4
  %5 = gnn.fill 0 : i64 -> !nodes_2x4
  %scatter_add_1 = gnn.scatter sum %mul_2 into %5 with_init at target of %edges : !edges2_2x4, !nodes_2x4, !set_of_edges2
  %view_1 = gnn.reshape %scatter_add_1 : !nodes_2x4 -> !nodes_8
  %6 = gnn.load_weight @convs.0.bias : tensor<8xf32>
  %add_2 = gnn.add %view_1, %6 : !nodes_8, tensor<8xf32> -> !nodes_8
  %relu = gnn.relu %add_2 : !nodes_8
  %7 = gnn.load_weight @convs.1.lin.weight : tensor<6x8xf32>
  %linear_1 = gnn.linear %relu, %7 : !nodes_8, tensor<6x8xf32> -> !nodes_6
  %view_2 = gnn.reshape %linear_1 : !nodes_6 -> !nodes_2x3
  %8 = gnn.load_weight @convs.1.att_src : tensor<1x2x3xf32>
  %mul_3 = gnn.mul %view_2, %8 : !nodes_2x3, tensor<1x2x3xf32> -> !nodes_2x3
  %sum_2 = gnn.rowwise "aten.sum.dim_IntList"(%mul_3, [-1]) : (!nodes_2x3) -> !nodes_2
  %9 = gnn.load_weight @convs.1.att_dst : tensor<1x2x3xf32>
  %mul_4 = gnn.mul %view_2, %9 : !nodes_2x3, tensor<1x2x3xf32> -> !nodes_2x3
  %sum_3 = gnn.rowwise "aten.sum.dim_IntList"(%mul_4, [-1]) : (!nodes_2x3) -> !nodes_2
  %index_select_5 = gnn.gather %sum_2 at source of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %index_select_6 = gnn.gather %sum_3 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %add_3 = gnn.add %index_select_5, %index_select_6 : !edges2_2, !edges2_2 -> !edges2_2
  %leaky_relu_1 = gnn.leaky_relu %add_3 slope 2.000000e-01 : !edges2_2
  %scatter_reduce_1 = gnn.scatter max %leaky_relu_1 into %3 at target of %edges : !edges2_2, !nodes_2, !set_of_edges2
  %index_select_7 = gnn.gather %scatter_reduce_1 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %sub_1 = gnn.sub %leaky_relu_1, %index_select_7 : !edges2_2, !edges2_2 -> !edges2_2
  %exp_1 = gnn.exp %sub_1 : !edges2_2
  %scatter_add_2 = gnn.scatter sum %exp_1 into %3 with_init at target of %edges : !edges2_2, !nodes_2, !set_of_edges2
  %10 = gnn.constant 1.000000e-16 : f64 -> tensor<f64>
  %add_4 = gnn.add %scatter_add_2, %10 : !nodes_2, tensor<f64> -> !nodes_2
  %index_select_8 = gnn.gather %add_4 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %div_1 = gnn.div %exp_1, %index_select_8 : !edges2_2, !edges2_2 -> !edges2_2
  %index_select_9 = gnn.gather %view_2 at source of %edges : !nodes_2x3, !set_of_edges2 -> !edges2_2x3
  %unsqueeze_1 = gnn.reshape %div_1 : !edges2_2 -> !edges2_2x1
  %mul_5 = gnn.mul %unsqueeze_1, %index_select_9 : !edges2_2x1, !edges2_2x3 -> !edges2_2x3
  %11 = gnn.fill 0 : i64 -> !nodes_2x3
  %scatter_add_3 = gnn.scatter sum %mul_5 into %11 with_init at target of %edges : !edges2_2x3, !nodes_2x3, !set_of_edges2
  %mean = gnn.rowwise "aten.mean.dim"(%scatter_add_3, [1]) : (!nodes_2x3) -> !nodes_3
  %12 = gnn.load_weight @convs.1.bias : tensor<3xf32>
  %add_5 = gnn.add %mean, %12 : !nodes_3, tensor<3xf32> -> !nodes_3
  func.return %add_5 : !nodes_3
}

// MODEL-LABEL: func.func @structure(
// MODEL:       %edges = gnn.edge_set %select_2, %select_3 :
// MODEL-LABEL: func.func @forward(
// MODEL:       %scatter_reduce = gnn.scatter max %leaky_relu into %3 at target of %edges :
// MODEL:       %scatter_add = gnn.scatter sum %exp into %3 with_init at target of %edges :
// MODEL:       %scatter_add_1 = gnn.scatter sum %mul_2 into %5 with_init at target of %edges :
// MODEL:       %scatter_reduce_1 = gnn.scatter max %leaky_relu_1 into %3 at target of %edges :
// MODEL:       %scatter_add_2 = gnn.scatter sum %exp_1 into %3 with_init at target of %edges :
// MODEL:       %scatter_add_3 = gnn.scatter sum %mul_5 into %11 with_init at target of %edges :
// MODEL-NOT:   gnn.aggregate

// RAISED-LABEL: func.func @structure(
// RAISED-NEXT:  %0 = gnn.relation %edge_index : tensor<2x?xi64, #gnn.on<edges "edges">> -> !gnn.edges<"edges", "nodes" -> "nodes">
// RAISED-NEXT:  %1 = gnn.without_loops %0 : !gnn.edges<"edges", "nodes" -> "nodes"> -> !gnn.edges<"edges.1", "nodes" -> "nodes">
// RAISED-NEXT:  %edges = gnn.with_loops %1 : !gnn.edges<"edges.1", "nodes" -> "nodes"> -> !gnn.edges<"edges.2", "nodes" -> "nodes">
// RAISED-NEXT:  func.return %edges :
// RAISED-LABEL: func.func @forward(
// RAISED-NEXT:  %0 = gnn.load_weight @convs.0.lin.weight :
// RAISED-NEXT:  %linear = gnn.linear %x, %0 :
// RAISED-NEXT:  %view = gnn.reshape %linear :
// RAISED-NEXT:  %1 = gnn.load_weight @convs.0.att_src :
// RAISED-NEXT:  %mul = gnn.mul %view, %1 :
// RAISED-NEXT:  %sum = gnn.rowwise "aten.sum.dim_IntList"(%mul, [-1]) :
// RAISED-NEXT:  %2 = gnn.load_weight @convs.0.att_dst :
// RAISED-NEXT:  %mul_1 = gnn.mul %view, %2 :
// RAISED-NEXT:  %sum_1 = gnn.rowwise "aten.sum.dim_IntList"(%mul_1, [-1]) :
// RAISED-NEXT:  %index_select = gnn.gather %sum at source of %edges :
// RAISED-NEXT:  %index_select_1 = gnn.gather %sum_1 at target of %edges :
// RAISED-NEXT:  %add = gnn.add %index_select, %index_select_1 :
// RAISED-NEXT:  %leaky_relu = gnn.leaky_relu %add slope 2.000000e-01 :
// RAISED-NEXT:  %div = gnn.edge_softmax %leaky_relu at target of %edges eps 1.000000e-16 :
// RAISED-NEXT:  %index_select_2 = gnn.gather %view at source of %edges :
// RAISED-NEXT:  %unsqueeze = gnn.reshape %div :
// RAISED-NEXT:  %mul_2 = gnn.mul %unsqueeze, %index_select_2 :
// RAISED-NEXT:  %scatter_add = gnn.aggregate sum %mul_2 at target of %edges :
// RAISED-NEXT:  %view_1 = gnn.reshape %scatter_add :
// RAISED-NEXT:  %3 = gnn.load_weight @convs.0.bias :
// RAISED-NEXT:  %add_1 = gnn.add %view_1, %3 :
// RAISED-NEXT:  %relu = gnn.relu %add_1 :
// RAISED-NEXT:  %4 = gnn.load_weight @convs.1.lin.weight :
// RAISED-NEXT:  %linear_1 = gnn.linear %relu, %4 :
// RAISED-NEXT:  %view_2 = gnn.reshape %linear_1 :
// RAISED-NEXT:  %5 = gnn.load_weight @convs.1.att_src :
// RAISED-NEXT:  %mul_3 = gnn.mul %view_2, %5 :
// RAISED-NEXT:  %sum_2 = gnn.rowwise "aten.sum.dim_IntList"(%mul_3, [-1]) :
// RAISED-NEXT:  %6 = gnn.load_weight @convs.1.att_dst :
// RAISED-NEXT:  %mul_4 = gnn.mul %view_2, %6 :
// RAISED-NEXT:  %sum_3 = gnn.rowwise "aten.sum.dim_IntList"(%mul_4, [-1]) :
// RAISED-NEXT:  %index_select_3 = gnn.gather %sum_2 at source of %edges :
// RAISED-NEXT:  %index_select_4 = gnn.gather %sum_3 at target of %edges :
// RAISED-NEXT:  %add_2 = gnn.add %index_select_3, %index_select_4 :
// RAISED-NEXT:  %leaky_relu_1 = gnn.leaky_relu %add_2 slope 2.000000e-01 :
// RAISED-NEXT:  %div_1 = gnn.edge_softmax %leaky_relu_1 at target of %edges eps 1.000000e-16 :
// RAISED-NEXT:  %index_select_5 = gnn.gather %view_2 at source of %edges :
// RAISED-NEXT:  %unsqueeze_1 = gnn.reshape %div_1 :
// RAISED-NEXT:  %mul_5 = gnn.mul %unsqueeze_1, %index_select_5 :
// RAISED-NEXT:  %scatter_add_1 = gnn.aggregate sum %mul_5 at target of %edges :
// RAISED-NEXT:  %mean = gnn.rowwise "aten.mean.dim"(%scatter_add_1, [1]) :
// RAISED-NEXT:  %7 = gnn.load_weight @convs.1.bias :
// RAISED-NEXT:  %add_3 = gnn.add %mean, %7 :
// RAISED-NEXT:  func.return %add_3 :

// INDEXED-LABEL: func.func @forward(
// INDEXED:       %div = gnn.edge_softmax %leaky_relu at target of %edges eps 1.000000e-16 layer 1 conv 0 :
// INDEXED:       %scatter_add = gnn.aggregate sum %mul_2 at target of %edges layer 1 conv 0 :
// INDEXED:       %div_1 = gnn.edge_softmax %leaky_relu_1 at target of %edges eps 1.000000e-16 layer 2 conv 1 :
// INDEXED:       %scatter_add_1 = gnn.aggregate sum %mul_5 at target of %edges layer 2 conv 1 :

// BLOCKS-LABEL: func.func @structure(
// BLOCKS-NEXT:  %0 = gnn.relation %edge_index : tensor<2x?xi64, #gnn.on<edges "edges">> -> !gnn.edges<"edges", "nodes" -> "nodes">
// BLOCKS-NEXT:  %1 = gnn.without_loops %0 : !gnn.edges<"edges", "nodes" -> "nodes"> -> !gnn.edges<"edges.1", "nodes" -> "nodes">
// BLOCKS-NEXT:  %edges = gnn.with_loops %1 : !gnn.edges<"edges.1", "nodes" -> "nodes"> -> !gnn.edges<"edges.2", "nodes" -> "nodes">
// BLOCKS-NEXT:  func.return %edges :
// BLOCKS-LABEL: func.func @forward(
// BLOCKS-NEXT:  %0, %1 = gnn.conv_block layer 0 targets(%x_1 = %x : tensor<?x8xf32, #gnn.on<nodes "nodes">>) -> (tensor<?x2x4xf32, #gnn.on<nodes "nodes">>, tensor<?x2xf32, #gnn.on<nodes "nodes">>)
// BLOCKS-NEXT:  %2 = gnn.load_weight @convs.0.lin.weight :
// BLOCKS-NEXT:  %linear = gnn.linear %x_1, %2 :
// BLOCKS-NEXT:  %view = gnn.reshape %linear :
// BLOCKS-NEXT:  %3 = gnn.load_weight @convs.0.att_src :
// BLOCKS-NEXT:  %mul = gnn.mul %view, %3 :
// BLOCKS-NEXT:  %sum = gnn.rowwise "aten.sum.dim_IntList"(%mul, [-1]) :
// BLOCKS-NEXT:  gnn.yield %view, %sum :
// BLOCKS-NEXT:  }
// BLOCKS-NEXT:  %2 = gnn.conv_block layer 1 neighbors(%view = %0 : tensor<?x2x4xf32, #gnn.on<nodes "nodes">>, %sum = %1 : tensor<?x2xf32, #gnn.on<nodes "nodes">>) structure(%edges_1 = %edges : !gnn.edges<"edges.2", "nodes" -> "nodes">) -> (tensor<?x2x3xf32, #gnn.on<nodes "nodes">>)
// BLOCKS-NEXT:  %3 = gnn.load_weight @convs.0.att_dst :
// BLOCKS-NEXT:  %mul = gnn.mul %view, %3 :
// BLOCKS-NEXT:  %sum_1 = gnn.rowwise "aten.sum.dim_IntList"(%mul, [-1]) :
// BLOCKS-NEXT:  %index_select = gnn.gather %sum at source of %edges_1 :
// BLOCKS-NEXT:  %index_select_1 = gnn.gather %sum_1 at target of %edges_1 :
// BLOCKS-NEXT:  %add = gnn.add %index_select, %index_select_1 :
// BLOCKS-NEXT:  %leaky_relu = gnn.leaky_relu %add slope 2.000000e-01 :
// BLOCKS-NEXT:  %div = gnn.edge_softmax %leaky_relu at target of %edges_1 eps 1.000000e-16 layer 1 conv 0 :
// BLOCKS-NEXT:  %index_select_2 = gnn.gather %view at source of %edges_1 :
// BLOCKS-NEXT:  %unsqueeze = gnn.reshape %div :
// BLOCKS-NEXT:  %mul_1 = gnn.mul %unsqueeze, %index_select_2 :
// BLOCKS-NEXT:  %scatter_add = gnn.aggregate sum %mul_1 at target of %edges_1 layer 1 conv 0 :
// BLOCKS-NEXT:  %view_1 = gnn.reshape %scatter_add :
// BLOCKS-NEXT:  %4 = gnn.load_weight @convs.0.bias :
// BLOCKS-NEXT:  %add_1 = gnn.add %view_1, %4 :
// BLOCKS-NEXT:  %relu = gnn.relu %add_1 :
// BLOCKS-NEXT:  %5 = gnn.load_weight @convs.1.lin.weight :
// BLOCKS-NEXT:  %linear = gnn.linear %relu, %5 :
// BLOCKS-NEXT:  %view_2 = gnn.reshape %linear :
// BLOCKS-NEXT:  gnn.yield %view_2 :
// BLOCKS-NEXT:  }
// BLOCKS-NEXT:  %3 = gnn.conv_block layer 2 neighbors(%view = %2 : tensor<?x2x3xf32, #gnn.on<nodes "nodes">>) structure(%edges_1 = %edges : !gnn.edges<"edges.2", "nodes" -> "nodes">) -> (tensor<?x3xf32, #gnn.on<nodes "nodes">>)
// BLOCKS-NEXT:  %4 = gnn.load_weight @convs.1.att_src :
// BLOCKS-NEXT:  %mul = gnn.mul %view, %4 :
// BLOCKS-NEXT:  %sum = gnn.rowwise "aten.sum.dim_IntList"(%mul, [-1]) :
// BLOCKS-NEXT:  %5 = gnn.load_weight @convs.1.att_dst :
// BLOCKS-NEXT:  %mul_1 = gnn.mul %view, %5 :
// BLOCKS-NEXT:  %sum_1 = gnn.rowwise "aten.sum.dim_IntList"(%mul_1, [-1]) :
// BLOCKS-NEXT:  %index_select = gnn.gather %sum at source of %edges_1 :
// BLOCKS-NEXT:  %index_select_1 = gnn.gather %sum_1 at target of %edges_1 :
// BLOCKS-NEXT:  %add = gnn.add %index_select, %index_select_1 :
// BLOCKS-NEXT:  %leaky_relu = gnn.leaky_relu %add slope 2.000000e-01 :
// BLOCKS-NEXT:  %div = gnn.edge_softmax %leaky_relu at target of %edges_1 eps 1.000000e-16 layer 2 conv 1 :
// BLOCKS-NEXT:  %index_select_2 = gnn.gather %view at source of %edges_1 :
// BLOCKS-NEXT:  %unsqueeze = gnn.reshape %div :
// BLOCKS-NEXT:  %mul_2 = gnn.mul %unsqueeze, %index_select_2 :
// BLOCKS-NEXT:  %scatter_add = gnn.aggregate sum %mul_2 at target of %edges_1 layer 2 conv 1 :
// BLOCKS-NEXT:  %mean = gnn.rowwise "aten.mean.dim"(%scatter_add, [1]) :
// BLOCKS-NEXT:  %6 = gnn.load_weight @convs.1.bias :
// BLOCKS-NEXT:  %add_1 = gnn.add %mean, %6 :
// BLOCKS-NEXT:  gnn.yield %add_1 :
// BLOCKS-NEXT:  }
// BLOCKS-NEXT:  func.return %3 :
