// RUN: gnnc-opt %s -p gnn-index-convs | filecheck %s

// PyG's GAT of three layers, as the front end writes it: nine reductions are three Convs. The maximum and the sum of a
// softmax are fetched at the end where they were reduced, so they start no layer.
!edges_ends = tensor<2x?xi64, #gnn.on<edges "edges">>
!set_of_edges2 = !gnn.edges<"edges.2", "nodes" -> "nodes">
!set_of_edges = !gnn.edges<"edges", "nodes" -> "nodes">
!set_of_edges1 = !gnn.edges<"edges.1", "nodes" -> "nodes">
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
gnn.weight @convs.1.lin.weight : tensor<8x8xf32>
gnn.weight @convs.1.att_src : tensor<1x2x4xf32>
gnn.weight @convs.1.att_dst : tensor<1x2x4xf32>
gnn.weight @convs.1.bias : tensor<8xf32>
gnn.weight @convs.2.lin.weight : tensor<6x8xf32>
gnn.weight @convs.2.att_src : tensor<1x2x3xf32>
gnn.weight @convs.2.att_dst : tensor<1x2x3xf32>
gnn.weight @convs.2.bias : tensor<3xf32>
func.func @structure(%edge_index: !edges_ends {gnn.name = "edge_index"}) -> !set_of_edges2 {
  %0 = gnn.relation %edge_index : !edges_ends -> !set_of_edges
  %1 = gnn.without_loops %0 : !set_of_edges -> !set_of_edges1
  %edges = gnn.with_loops %1 : !set_of_edges1 -> !set_of_edges2
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
  %7 = gnn.load_weight @convs.1.lin.weight : tensor<8x8xf32>
  %linear_1 = gnn.linear %relu, %7 : !nodes_8, tensor<8x8xf32> -> !nodes_8
  %view_2 = gnn.reshape %linear_1 : !nodes_8 -> !nodes_2x4
  %8 = gnn.load_weight @convs.1.att_src : tensor<1x2x4xf32>
  %mul_3 = gnn.mul %view_2, %8 : !nodes_2x4, tensor<1x2x4xf32> -> !nodes_2x4
  %sum_2 = gnn.rowwise "aten.sum.dim_IntList"(%mul_3, [-1]) : (!nodes_2x4) -> !nodes_2
  %9 = gnn.load_weight @convs.1.att_dst : tensor<1x2x4xf32>
  %mul_4 = gnn.mul %view_2, %9 : !nodes_2x4, tensor<1x2x4xf32> -> !nodes_2x4
  %sum_3 = gnn.rowwise "aten.sum.dim_IntList"(%mul_4, [-1]) : (!nodes_2x4) -> !nodes_2
  %index_select_5 = gnn.gather %sum_2 at source of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %index_select_6 = gnn.gather %sum_3 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %add_3 = gnn.add %index_select_5, %index_select_6 : !edges2_2, !edges2_2 -> !edges2_2
  %leaky_relu_1 = gnn.leaky_relu %add_3 slope 2.000000e-01 : !edges2_2
  %scatter_reduce_1 = gnn.scatter max %leaky_relu_1 into %3 at target of %edges : !edges2_2, !nodes_2, !set_of_edges2
  %index_select_7 = gnn.gather %scatter_reduce_1 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %sub_1 = gnn.sub %leaky_relu_1, %index_select_7 : !edges2_2, !edges2_2 -> !edges2_2
  %exp_1 = gnn.exp %sub_1 : !edges2_2
  %scatter_add_2 = gnn.scatter sum %exp_1 into %3 with_init at target of %edges : !edges2_2, !nodes_2, !set_of_edges2
  %add_4 = gnn.add %scatter_add_2, %4 : !nodes_2, tensor<f64> -> !nodes_2
  %index_select_8 = gnn.gather %add_4 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %div_1 = gnn.div %exp_1, %index_select_8 : !edges2_2, !edges2_2 -> !edges2_2
  %index_select_9 = gnn.gather %view_2 at source of %edges : !nodes_2x4, !set_of_edges2 -> !edges2_2x4
  %unsqueeze_1 = gnn.reshape %div_1 : !edges2_2 -> !edges2_2x1
  %mul_5 = gnn.mul %unsqueeze_1, %index_select_9 : !edges2_2x1, !edges2_2x4 -> !edges2_2x4
  %scatter_add_3 = gnn.scatter sum %mul_5 into %5 with_init at target of %edges : !edges2_2x4, !nodes_2x4, !set_of_edges2
  %view_3 = gnn.reshape %scatter_add_3 : !nodes_2x4 -> !nodes_8
  %10 = gnn.load_weight @convs.1.bias : tensor<8xf32>
  %add_5 = gnn.add %view_3, %10 : !nodes_8, tensor<8xf32> -> !nodes_8
  %relu_1 = gnn.relu %add_5 : !nodes_8
  %11 = gnn.load_weight @convs.2.lin.weight : tensor<6x8xf32>
  %linear_2 = gnn.linear %relu_1, %11 : !nodes_8, tensor<6x8xf32> -> !nodes_6
  %view_4 = gnn.reshape %linear_2 : !nodes_6 -> !nodes_2x3
  %12 = gnn.load_weight @convs.2.att_src : tensor<1x2x3xf32>
  %mul_6 = gnn.mul %view_4, %12 : !nodes_2x3, tensor<1x2x3xf32> -> !nodes_2x3
  %sum_4 = gnn.rowwise "aten.sum.dim_IntList"(%mul_6, [-1]) : (!nodes_2x3) -> !nodes_2
  %13 = gnn.load_weight @convs.2.att_dst : tensor<1x2x3xf32>
  %mul_7 = gnn.mul %view_4, %13 : !nodes_2x3, tensor<1x2x3xf32> -> !nodes_2x3
  %sum_5 = gnn.rowwise "aten.sum.dim_IntList"(%mul_7, [-1]) : (!nodes_2x3) -> !nodes_2
  %index_select_10 = gnn.gather %sum_4 at source of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %index_select_11 = gnn.gather %sum_5 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %add_6 = gnn.add %index_select_10, %index_select_11 : !edges2_2, !edges2_2 -> !edges2_2
  %leaky_relu_2 = gnn.leaky_relu %add_6 slope 2.000000e-01 : !edges2_2
  %scatter_reduce_2 = gnn.scatter max %leaky_relu_2 into %3 at target of %edges : !edges2_2, !nodes_2, !set_of_edges2
  %index_select_12 = gnn.gather %scatter_reduce_2 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %sub_2 = gnn.sub %leaky_relu_2, %index_select_12 : !edges2_2, !edges2_2 -> !edges2_2
  %exp_2 = gnn.exp %sub_2 : !edges2_2
  %scatter_add_4 = gnn.scatter sum %exp_2 into %3 with_init at target of %edges : !edges2_2, !nodes_2, !set_of_edges2
  %add_7 = gnn.add %scatter_add_4, %4 : !nodes_2, tensor<f64> -> !nodes_2
  %index_select_13 = gnn.gather %add_7 at target of %edges : !nodes_2, !set_of_edges2 -> !edges2_2
  %div_2 = gnn.div %exp_2, %index_select_13 : !edges2_2, !edges2_2 -> !edges2_2
  %index_select_14 = gnn.gather %view_4 at source of %edges : !nodes_2x3, !set_of_edges2 -> !edges2_2x3
  %unsqueeze_2 = gnn.reshape %div_2 : !edges2_2 -> !edges2_2x1
  %mul_8 = gnn.mul %unsqueeze_2, %index_select_14 : !edges2_2x1, !edges2_2x3 -> !edges2_2x3
  %14 = gnn.fill 0 : i64 -> !nodes_2x3
  %scatter_add_5 = gnn.scatter sum %mul_8 into %14 with_init at target of %edges : !edges2_2x3, !nodes_2x3, !set_of_edges2
  %mean = gnn.rowwise "aten.mean.dim"(%scatter_add_5, [1]) : (!nodes_2x3) -> !nodes_3
  %15 = gnn.load_weight @convs.2.bias : tensor<3xf32>
  %add_8 = gnn.add %mean, %15 : !nodes_3, tensor<3xf32> -> !nodes_3
  func.return %add_8 : !nodes_3
}

// CHECK-LABEL: func.func @forward(
// CHECK:       %scatter_reduce = gnn.scatter max %leaky_relu into %3 at target of %edges layer 1 conv 0 :
// CHECK:       %scatter_add = gnn.scatter sum %exp into %3 with_init at target of %edges layer 1 conv 0 :
// CHECK:       %scatter_add_1 = gnn.scatter sum %mul_2 into %5 with_init at target of %edges layer 1 conv 0 :
// CHECK:       %scatter_reduce_1 = gnn.scatter max %leaky_relu_1 into %3 at target of %edges layer 2 conv 1 :
// CHECK:       %scatter_add_2 = gnn.scatter sum %exp_1 into %3 with_init at target of %edges layer 2 conv 1 :
// CHECK:       %scatter_add_3 = gnn.scatter sum %mul_5 into %5 with_init at target of %edges layer 2 conv 1 :
// CHECK:       %scatter_reduce_2 = gnn.scatter max %leaky_relu_2 into %3 at target of %edges layer 3 conv 2 :
// CHECK:       %scatter_add_4 = gnn.scatter sum %exp_2 into %3 with_init at target of %edges layer 3 conv 2 :
// CHECK:       %scatter_add_5 = gnn.scatter sum %mul_8 into %14 with_init at target of %edges layer 3 conv 2 :
// CHECK-NOT:   layer
