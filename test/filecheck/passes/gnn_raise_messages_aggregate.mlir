// RUN: gnnc-opt %s -p gnn-raise-messages | filecheck %s

!nodes = tensor<?x4xf32, #gnn.on<nodes "n">>
!messages = tensor<?x4xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !edges {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  func.return %e : !edges
}
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}) -> (!nodes, !nodes) {
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !messages
  %zeros = gnn.fill 0 : i64 -> !nodes
  %nil = gnn.fill 0.0 : f64 -> !nodes
  %ones = gnn.fill 1.0 : f64 -> !nodes

  // From zeros: what a node without edges has. Whether the zeros take part in a sum makes no difference.
  %sum = gnn.scatter sum %m into %zeros with_init at target of %e : !messages, !nodes, !edges
  %sum2 = gnn.scatter sum %m into %nil at source of %e : !messages, !nodes, !edges
  %mean = gnn.scatter mean %m into %zeros at target of %e : !messages, !nodes, !edges
  %max = gnn.scatter max %m into %zeros at target of %e : !messages, !nodes, !edges
  %min = gnn.scatter min %m into %nil at target of %e : !messages, !nodes, !edges
  %mul = gnn.scatter mul %m into %ones with_init at target of %e : !messages, !nodes, !edges
  %mul2 = gnn.scatter mul %m into %ones at target of %e : !messages, !nodes, !edges

  // Zeros that take part in a maximum, a minimum or a mean are one more message.
  %max3 = gnn.scatter max %m into %zeros with_init at target of %e : !messages, !nodes, !edges
  %min3 = gnn.scatter min %m into %zeros with_init at target of %e : !messages, !nodes, !edges
  %mean3 = gnn.scatter mean %m into %zeros with_init at target of %e : !messages, !nodes, !edges

  // From other numbers, and from other rows.
  %sum4 = gnn.scatter sum %m into %ones with_init at target of %e : !messages, !nodes, !edges
  %max4 = gnn.scatter max %m into %ones at target of %e : !messages, !nodes, !edges
  %mul4 = gnn.scatter mul %m into %zeros with_init at target of %e : !messages, !nodes, !edges
  %sum5 = gnn.scatter sum %m into %x with_init at target of %e : !messages, !nodes, !edges
  "test.op"(%sum, %sum2, %mean, %max, %min, %mul, %mul2, %max3, %min3, %mean3, %sum4, %max4, %mul4, %sum5) : (!nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes) -> ()
  func.return %sum, %sum5 : !nodes, !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK:       %sum = gnn.aggregate sum %m at target of %e :
// CHECK-NEXT:  %sum2 = gnn.aggregate sum %m at source of %e :
// CHECK-NEXT:  %mean = gnn.aggregate mean %m at target of %e :
// CHECK-NEXT:  %max = gnn.aggregate max %m at target of %e :
// CHECK-NEXT:  %min = gnn.aggregate min %m at target of %e :
// CHECK-NEXT:  %mul = gnn.aggregate mul %m at target of %e :
// CHECK-NEXT:  %mul2 = gnn.aggregate mul %m at target of %e :
// CHECK-NEXT:  %max3 = gnn.scatter max %m into %zeros with_init at target of %e :
// CHECK-NEXT:  %min3 = gnn.scatter min %m into %zeros with_init at target of %e :
// CHECK-NEXT:  %mean3 = gnn.scatter mean %m into %zeros with_init at target of %e :
// CHECK-NEXT:  %sum4 = gnn.scatter sum %m into %ones with_init at target of %e :
// CHECK-NEXT:  %max4 = gnn.scatter max %m into %ones at target of %e :
// CHECK-NEXT:  %mul4 = gnn.scatter mul %m into %zeros with_init at target of %e :
// CHECK-NEXT:  %sum5 = gnn.scatter sum %m into %x with_init at target of %e :
