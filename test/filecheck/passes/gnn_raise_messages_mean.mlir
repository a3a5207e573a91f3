// RUN: gnnc-opt %s -p gnn-raise-messages | filecheck %s

// Each result of @structure is a divisor: what makes a sum a mean, and what does not.
!nodes = tensor<?x4xf32, #gnn.on<nodes "n">>
!count = tensor<?xf32, #gnn.on<nodes "n">>
!column = tensor<?x1xf32, #gnn.on<nodes "n">>
!messages = tensor<?x4xf32, #gnn.on<edges "e">>
!each = tensor<?xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}, %w: !each {gnn.name = "edge_weight"})
    -> (!edges, !edges, !count, !column, !count, !count, !count, !count, !count, !count, !count) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  %ones = gnn.fill 1 : i64 -> !each
  %twos = gnn.fill 2 : i64 -> !each
  %zeros = gnn.fill 0 : i64 -> !count
  %sum = gnn.scatter sum %ones into %zeros with_init at target of %e : !each, !count, !edges
  %count = gnn.rowwise "aten.clamp.default"(%sum, 1) : (!count) -> !count
  %minimum = gnn.rowwise "aten.clamp_min.default"(%sum, 1.0) : (!count) -> !count
  %column = gnn.reshape %minimum : !count -> !column
  %open = gnn.rowwise "aten.clamp.default"(%sum, 1, none) : (!count) -> !count
  %two = gnn.rowwise "aten.clamp.default"(%sum, 2) : (!count) -> !count
  %most = gnn.rowwise "aten.clamp.default"(%sum, 1, 5) : (!count) -> !count
  %out = gnn.scatter sum %ones into %zeros with_init at source of %e : !each, !count, !edges
  %out_degree = gnn.rowwise "aten.clamp.default"(%out, 1) : (!count) -> !count
  %on_f = gnn.scatter sum %ones into %zeros with_init at target of %f : !each, !count, !edges
  %other_set = gnn.rowwise "aten.clamp.default"(%on_f, 1) : (!count) -> !count
  %weights = gnn.scatter sum %w into %zeros with_init at target of %e : !each, !count, !edges
  %weighted = gnn.rowwise "aten.clamp.default"(%weights, 1) : (!count) -> !count
  %doubled = gnn.scatter sum %twos into %zeros with_init at target of %e : !each, !count, !edges
  %by_two = gnn.rowwise "aten.clamp.default"(%doubled, 1) : (!count) -> !count
  func.return %e, %f, %count, %column, %open, %two, %most, %out_degree, %other_set, %weighted, %by_two
      : !edges, !edges, !count, !column, !count, !count, !count, !count, !count, !count, !count
}

func.func @forward(
    %x: !nodes {gnn.name = "x"}, %c: !count {gnn.name = "c"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64},
    %count: !count {gnn.structure = 2 : i64}, %column: !column {gnn.structure = 3 : i64}, %open: !count {gnn.structure = 4 : i64},
    %two: !count {gnn.structure = 5 : i64}, %most: !count {gnn.structure = 6 : i64}, %out_degree: !count {gnn.structure = 7 : i64},
    %other_set: !count {gnn.structure = 8 : i64}, %weighted: !count {gnn.structure = 9 : i64}, %by_two: !count {gnn.structure = 10 : i64}
) -> !nodes {
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !messages
  %zeros = gnn.fill 0 : i64 -> !nodes
  %sum = gnn.scatter sum %m into %zeros with_init at target of %e : !messages, !nodes, !edges
  %max = gnn.scatter max %m into %zeros at target of %e : !messages, !nodes, !edges

  // As SAGE does: the count as a column, spread over the row.
  %r0 = gnn.broadcast %column : !column -> !nodes
  %y0 = gnn.div %sum, %r0 : !nodes, !nodes -> !nodes
  %y1 = gnn.div %sum, %column : !nodes, !column -> !nodes
  %r2 = gnn.reshape %count : !count -> !column
  %y2 = gnn.div %sum, %r2 : !nodes, !column -> !nodes
  %r3 = gnn.reshape %open : !count -> !column
  %y3 = gnn.div %sum, %r3 : !nodes, !column -> !nodes

  // No mean: clamped at 2, or from above; the count of edges at the other end, or of another set; a sum of weights, or of
  // twos; a feature; what is divided is no sum.
  %r4 = gnn.reshape %two : !count -> !column
  %n0 = gnn.div %sum, %r4 : !nodes, !column -> !nodes
  %r5 = gnn.reshape %most : !count -> !column
  %n1 = gnn.div %sum, %r5 : !nodes, !column -> !nodes
  %r6 = gnn.reshape %out_degree : !count -> !column
  %n2 = gnn.div %sum, %r6 : !nodes, !column -> !nodes
  %r7 = gnn.reshape %other_set : !count -> !column
  %n3 = gnn.div %sum, %r7 : !nodes, !column -> !nodes
  %r8 = gnn.reshape %weighted : !count -> !column
  %n4 = gnn.div %sum, %r8 : !nodes, !column -> !nodes
  %r9 = gnn.reshape %by_two : !count -> !column
  %n5 = gnn.div %sum, %r9 : !nodes, !column -> !nodes
  %r10 = gnn.reshape %c : !count -> !column
  %n6 = gnn.div %sum, %r10 : !nodes, !column -> !nodes
  %n7 = gnn.div %max, %column : !nodes, !column -> !nodes
  "test.op"(%y0, %y1, %y2, %y3, %n0, %n1, %n2, %n3, %n4, %n5, %n6, %n7) : (!nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes, !nodes) -> ()
  func.return %y0 : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK:       %y0 = gnn.aggregate mean %m at target of %e :
// CHECK-NEXT:  %y1 = gnn.aggregate mean %m at target of %e :
// CHECK-NEXT:  %y2 = gnn.aggregate mean %m at target of %e :
// CHECK-NEXT:  %y3 = gnn.aggregate mean %m at target of %e :
// CHECK-NEXT:  %r4 = gnn.reshape %two :
// CHECK-NEXT:  %n0 = gnn.div %sum, %r4 :
// CHECK-NEXT:  %r5 = gnn.reshape %most :
// CHECK-NEXT:  %n1 = gnn.div %sum, %r5 :
// CHECK-NEXT:  %r6 = gnn.reshape %out_degree :
// CHECK-NEXT:  %n2 = gnn.div %sum, %r6 :
// CHECK-NEXT:  %r7 = gnn.reshape %other_set :
// CHECK-NEXT:  %n3 = gnn.div %sum, %r7 :
// CHECK-NEXT:  %r8 = gnn.reshape %weighted :
// CHECK-NEXT:  %n4 = gnn.div %sum, %r8 :
// CHECK-NEXT:  %r9 = gnn.reshape %by_two :
// CHECK-NEXT:  %n5 = gnn.div %sum, %r9 :
// CHECK-NEXT:  %r10 = gnn.reshape %c :
// CHECK-NEXT:  %n6 = gnn.div %sum, %r10 :
// CHECK-NEXT:  %n7 = gnn.div %max, %column :
