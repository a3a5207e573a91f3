// RUN: gnnc-opt %s -p gnn-raise-edge-sets,dce | filecheck %s

!index = tensor<2x?xi64, #gnn.on<edges "e">>
!index1 = tensor<2x?xi64, #gnn.on<edges "e.1">>
!index2 = tensor<2x?xi64, #gnn.on<edges "e.2">>
!end = tensor<?xi64, #gnn.on<edges "e">>
!end1 = tensor<?xi64, #gnn.on<edges "e.1">>
!end2 = tensor<?xi64, #gnn.on<edges "e.2">>
!mask = tensor<?xi1, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">
!edges1 = !gnn.edges<"e.1", "n" -> "n">
!edges2 = !gnn.edges<"e.2", "n" -> "n">
!nodes = tensor<?xi64, #gnn.on<nodes "n">>
!row = tensor<1x?xi64, #gnn.on<nodes "n">>
!loops = tensor<2x?xi64, #gnn.on<nodes "n">>

// The rows of the input: the relation itself.
func.func @relation(%i: !index) -> !gnn.edges<"e", "a" -> "b"> {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end
  %e = gnn.edge_set %s, %t : !end, !end -> !gnn.edges<"e", "a" -> "b">
  func.return %e : !gnn.edges<"e", "a" -> "b">
}

// CHECK-LABEL: func.func @relation(
// CHECK-NEXT:  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT:  func.return %e : !gnn.edges<"e", "a" -> "b">

// With exchanged rows its reverse.
func.func @reversed(%i: !index) -> !gnn.edges<"e", "b" -> "a"> {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %e = gnn.edge_set %s, %t : !end, !end -> !gnn.edges<"e", "b" -> "a">
  func.return %e : !gnn.edges<"e", "b" -> "a">
}

// CHECK-LABEL: func.func @reversed(
// CHECK-NEXT:  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT:  %e_1 = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">
// CHECK-NEXT:  func.return %e_1 : !gnn.edges<"e", "b" -> "a">

// Edges with different ends.
func.func @without_loops(%i: !index) -> !edges1 {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end
  %m = gnn.rowwise "aten.ne.Tensor"(%s, %t) : (!end, !end) -> !mask
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %p = gnn.rowwise "aten.select.int"(%k, 0, 0) : (!index1) -> !end1
  %q = gnn.rowwise "aten.select.int"(%k, 0, 1) : (!index1) -> !end1
  %e = gnn.edge_set %p, %q : !end1, !end1 -> !edges1
  func.return %e : !edges1
}

// CHECK-LABEL: func.func @without_loops(
// CHECK-NEXT:  %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %e = gnn.without_loops %0 : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.1", "n" -> "n">
// CHECK-NEXT:  func.return %e : !gnn.edges<"e.1", "n" -> "n">

// The ends may be compared and taken the other way round.
func.func @without_loops_exchanged(%i: !index) -> !edges1 {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end
  %m = gnn.rowwise "aten.ne.Tensor"(%t, %s) : (!end, !end) -> !mask
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %p = gnn.rowwise "aten.select.int"(%k, 0, 1) : (!index1) -> !end1
  %q = gnn.rowwise "aten.select.int"(%k, 0, 0) : (!index1) -> !end1
  %e = gnn.edge_set %p, %q : !end1, !end1 -> !edges1
  func.return %e : !edges1
}

// CHECK-LABEL: func.func @without_loops_exchanged(
// CHECK-NEXT:  %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %1 = gnn.without_loops %0 : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.1", "n" -> "n">
// CHECK-NEXT:  %e = gnn.reverse %1 : !gnn.edges<"e.1", "n" -> "n"> -> !gnn.edges<"e.1", "n" -> "n">
// CHECK-NEXT:  func.return %e : !gnn.edges<"e.1", "n" -> "n">

// One loop a node, as a row that is repeated.
func.func @with_loops(%i: !index) -> !edges2 {
  %n = gnn.count on<nodes "n">
  %r = gnn.whole_graph "aten.arange.start"(0, %n) : (index) -> !nodes
  %v = gnn.reshape %r : !nodes -> !row
  %l = gnn.rowwise "aten.repeat.default"(%v, [2, 1]) : (!row) -> !loops
  %c = gnn.whole_graph "aten.cat.default"([%i, %l], 1) : (!index, !loops) -> !index2
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges2
  func.return %e : !edges2
}

// CHECK-LABEL: func.func @with_loops(
// CHECK-NEXT:  %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %e = gnn.with_loops %0 : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.2", "n" -> "n">
// CHECK-NEXT:  func.return %e : !gnn.edges<"e.2", "n" -> "n">

// One loop a node, as two rows that are stacked; the last axis counted from the end.
func.func @with_loops_stacked(%i: !index) -> !edges2 {
  %n = gnn.count on<nodes "n">
  %r = gnn.whole_graph "aten.arange.start"(0, %n) : (index) -> !nodes
  %l = gnn.rowwise "aten.stack.default"([%r, %r]) : (!nodes, !nodes) -> !loops
  %c = gnn.whole_graph "aten.cat.default"([%i, %l], -1) : (!index, !loops) -> !index2
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges2
  func.return %e : !edges2
}

// CHECK-LABEL: func.func @with_loops_stacked(
// CHECK-NEXT:  %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %e = gnn.with_loops %0 : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.2", "n" -> "n">
// CHECK-NEXT:  func.return %e : !gnn.edges<"e.2", "n" -> "n">

// What GCN and GAT do: loops out, one loop a node in.
func.func @without_and_with_loops(%i: !index) -> !edges2 {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end
  %m = gnn.rowwise "aten.ne.Tensor"(%s, %t) : (!end, !end) -> !mask
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %n = gnn.count on<nodes "n">
  %r = gnn.whole_graph "aten.arange.start"(0, %n) : (index) -> !nodes
  %v = gnn.reshape %r : !nodes -> !row
  %l = gnn.rowwise "aten.repeat.default"(%v, [2, 1]) : (!row) -> !loops
  %c = gnn.whole_graph "aten.cat.default"([%k, %l], 1) : (!index1, !loops) -> !index2
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges2
  func.return %e : !edges2
}

// CHECK-LABEL: func.func @without_and_with_loops(
// CHECK-NEXT:  %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %1 = gnn.without_loops %0 : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.1", "n" -> "n">
// CHECK-NEXT:  %e = gnn.with_loops %1 : !gnn.edges<"e.1", "n" -> "n"> -> !gnn.edges<"e.2", "n" -> "n">
// CHECK-NEXT:  func.return %e : !gnn.edges<"e.2", "n" -> "n">

// Values on the new edges may come right after the index tensors: each set stands where its tensor stood.
func.func @values_between(%i: !index) -> !edges2 {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end
  %m = gnn.rowwise "aten.ne.Tensor"(%s, %t) : (!end, !end) -> !mask
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %o = gnn.fill 1.0 : f64 -> tensor<?xf32, #gnn.on<edges "e.1">>
  "test.op"(%o) : (tensor<?xf32, #gnn.on<edges "e.1">>) -> ()
  %n = gnn.count on<nodes "n">
  %r = gnn.whole_graph "aten.arange.start"(0, %n) : (index) -> !nodes
  %v = gnn.reshape %r : !nodes -> !row
  %l = gnn.rowwise "aten.repeat.default"(%v, [2, 1]) : (!row) -> !loops
  %c = gnn.whole_graph "aten.cat.default"([%k, %l], 1) : (!index1, !loops) -> !index2
  %z = gnn.fill 1.0 : f64 -> tensor<?xf32, #gnn.on<edges "e.2">>
  "test.op"(%z) : (tensor<?xf32, #gnn.on<edges "e.2">>) -> ()
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges2
  func.return %e : !edges2
}

// CHECK-LABEL: func.func @values_between(
// CHECK-NEXT:  %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %1 = gnn.without_loops %0 : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.1", "n" -> "n">
// CHECK-NEXT:  %o = gnn.fill 1.000000e+00 : f64 -> tensor<?xf32, #gnn.on<edges "e.1">>
// CHECK-NEXT:  "test.op"(%o)
// CHECK-NEXT:  %e = gnn.with_loops %1 : !gnn.edges<"e.1", "n" -> "n"> -> !gnn.edges<"e.2", "n" -> "n">
// CHECK-NEXT:  %z = gnn.fill 1.000000e+00 : f64 -> tensor<?xf32, #gnn.on<edges "e.2">>
// CHECK-NEXT:  "test.op"(%z)
// CHECK-NEXT:  func.return %e : !gnn.edges<"e.2", "n" -> "n">

// A mask that is not of edges with different ends.
func.func @other_mask(%i: !index) -> !edges1 {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end
  %m = gnn.rowwise "aten.eq.Tensor"(%s, %t) : (!end, !end) -> !mask
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %p = gnn.rowwise "aten.select.int"(%k, 0, 0) : (!index1) -> !end1
  %q = gnn.rowwise "aten.select.int"(%k, 0, 1) : (!index1) -> !end1
  %e = gnn.edge_set %p, %q : !end1, !end1 -> !edges1
  func.return %e : !edges1
}

// CHECK-LABEL: func.func @other_mask(
// CHECK:       %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %e = gnn.where %0, %m : !gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.1", "n" -> "n">
// CHECK-NEXT:  func.return %e

// A mask that is an input.
func.func @given_mask(%i: !index, %m: !mask) -> !edges1 {
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %p = gnn.rowwise "aten.select.int"(%k, 0, 0) : (!index1) -> !end1
  %q = gnn.rowwise "aten.select.int"(%k, 0, 1) : (!index1) -> !end1
  %e = gnn.edge_set %p, %q : !end1, !end1 -> !edges1
  func.return %e : !edges1
}

// CHECK-LABEL: func.func @given_mask(
// CHECK:       %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %e = gnn.where %0, %m : !gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.1", "n" -> "n">
// CHECK-NEXT:  func.return %e

// A mask that compares an end with itself.
func.func @one_end_twice(%i: !index) -> !edges1 {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end
  %m = gnn.rowwise "aten.ne.Tensor"(%s, %s) : (!end, !end) -> !mask
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %p = gnn.rowwise "aten.select.int"(%k, 0, 0) : (!index1) -> !end1
  %q = gnn.rowwise "aten.select.int"(%k, 0, 1) : (!index1) -> !end1
  %e = gnn.edge_set %p, %q : !end1, !end1 -> !edges1
  func.return %e : !edges1
}

// CHECK-LABEL: func.func @one_end_twice(
// CHECK:       %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT:  %e = gnn.where %0, %m : !gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.1", "n" -> "n">
// CHECK-NEXT:  func.return %e

// Some edges between two node sets, the other way round.
func.func @mask_reversed(%i: !index, %m: !mask) -> !gnn.edges<"e.1", "b" -> "a"> {
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %p = gnn.rowwise "aten.select.int"(%k, 0, 1) : (!index1) -> !end1
  %q = gnn.rowwise "aten.select.int"(%k, 0, 0) : (!index1) -> !end1
  %e = gnn.edge_set %p, %q : !end1, !end1 -> !gnn.edges<"e.1", "b" -> "a">
  func.return %e : !gnn.edges<"e.1", "b" -> "a">
}

// CHECK-LABEL: func.func @mask_reversed(
// CHECK-NEXT:  %0 = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT:  %1 = gnn.where %0, %m : !gnn.edges<"e", "a" -> "b">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.1", "a" -> "b">
// CHECK-NEXT:  %e = gnn.reverse %1 : !gnn.edges<"e.1", "a" -> "b"> -> !gnn.edges<"e.1", "b" -> "a">
// CHECK-NEXT:  func.return %e

// Some edges, and one loop a node.
func.func @mask_and_loops(%i: !index, %m: !mask) -> !edges2 {
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %m]) : (!index, !mask) -> !index1
  %n = gnn.count on<nodes "n">
  %r = gnn.whole_graph "aten.arange.start"(0, %n) : (index) -> !nodes
  %l = gnn.rowwise "aten.stack.default"([%r, %r]) : (!nodes, !nodes) -> !loops
  %c = gnn.whole_graph "aten.cat.default"([%k, %l], 1) : (!index1, !loops) -> !index2
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges2
  func.return %e : !edges2
}

// CHECK-LABEL: func.func @mask_and_loops(
// CHECK-NEXT:  %0 = gnn.relation %i
// CHECK-NEXT:  %1 = gnn.where %0, %m
// CHECK-NEXT:  %e = gnn.with_loops %1 : !gnn.edges<"e.1", "n" -> "n"> -> !gnn.edges<"e.2", "n" -> "n">
// CHECK-NEXT:  func.return %e

// The rows of a flipped tensor are exchanged.
func.func @flipped(%i: !index) -> !gnn.edges<"e", "b" -> "a"> {
  %f = gnn.rowwise "aten.flip.default"(%i, [0]) : (!index) -> !index
  %s = gnn.rowwise "aten.select.int"(%f, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %e = gnn.edge_set %s, %t : !end, !end -> !gnn.edges<"e", "b" -> "a">
  func.return %e : !gnn.edges<"e", "b" -> "a">
}

// CHECK-LABEL: func.func @flipped(
// CHECK-NEXT:  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT:  %e_1 = gnn.reverse %e
// CHECK-NEXT:  func.return %e_1

// No set operation: the edges are put into another order.
func.func @permuted(%i: !index, %o: !end) -> !edges {
  %k = gnn.whole_graph "aten.index.Tensor"(%i, [none, %o]) : (!index, !end) -> !index
  %p = gnn.rowwise "aten.select.int"(%k, 0, 0) : (!index) -> !end
  %q = gnn.rowwise "aten.select.int"(%k, 0, 1) : (!index) -> !end
  %e = gnn.edge_set %p, %q : !end, !end -> !edges
  func.return %e : !edges
}

// CHECK-LABEL: func.func @permuted(
// CHECK-NOT:   gnn.relation
// CHECK:       %e = gnn.edge_set %p, %q

// No: the columns of a flipped tensor are in another order.
func.func @flipped_columns(%i: !index) -> !edges {
  %f = gnn.rowwise "aten.flip.default"(%i, [1]) : (!index) -> !index
  %s = gnn.rowwise "aten.select.int"(%f, 0, 0) : (!index) -> !end
  %t = gnn.rowwise "aten.select.int"(%f, 0, 1) : (!index) -> !end
  %e = gnn.edge_set %s, %t : !end, !end -> !edges
  func.return %e : !edges
}

// CHECK-LABEL: func.func @flipped_columns(
// CHECK-NOT:   gnn.relation
// CHECK:       %e = gnn.edge_set %s, %t

// No: node 0 gets no loop.
func.func @range_from_one(%i: !index) -> !edges2 {
  %n = gnn.count on<nodes "n">
  %r = gnn.whole_graph "aten.arange.start"(1, %n) : (index) -> !nodes
  %v = gnn.reshape %r : !nodes -> !row
  %l = gnn.rowwise "aten.repeat.default"(%v, [2, 1]) : (!row) -> !loops
  %c = gnn.whole_graph "aten.cat.default"([%i, %l], 1) : (!index, !loops) -> !index2
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges2
  func.return %e : !edges2
}

// CHECK-LABEL: func.func @range_from_one(
// CHECK-NOT:   gnn.relation
// CHECK:       %e = gnn.edge_set %p, %q

// No: one loop for each node of another set.
func.func @range_of_other_nodes(%i: !index) -> !edges2 {
  %n = gnn.count on<nodes "other">
  %r = gnn.whole_graph "aten.arange.start"(0, %n) : (index) -> tensor<?xi64, #gnn.on<nodes "other">>
  %v = gnn.reshape %r : tensor<?xi64, #gnn.on<nodes "other">> -> tensor<1x?xi64, #gnn.on<nodes "other">>
  %l = gnn.rowwise "aten.repeat.default"(%v, [2, 1]) : (tensor<1x?xi64, #gnn.on<nodes "other">>) -> tensor<2x?xi64, #gnn.on<nodes "other">>
  %c = gnn.whole_graph "aten.cat.default"([%i, %l], 1) : (!index, tensor<2x?xi64, #gnn.on<nodes "other">>) -> !index2
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges2
  func.return %e : !edges2
}

// CHECK-LABEL: func.func @range_of_other_nodes(
// CHECK-NOT:   gnn.relation
// CHECK:       %e = gnn.edge_set %p, %q

// No: the loops come before the edges, so edge values are in another order.
func.func @loops_first(%i: !index) -> !edges2 {
  %n = gnn.count on<nodes "n">
  %r = gnn.whole_graph "aten.arange.start"(0, %n) : (index) -> !nodes
  %v = gnn.reshape %r : !nodes -> !row
  %l = gnn.rowwise "aten.repeat.default"(%v, [2, 1]) : (!row) -> !loops
  %c = gnn.whole_graph "aten.cat.default"([%l, %i], 1) : (!loops, !index) -> !index2
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges2
  func.return %e : !edges2
}

// CHECK-LABEL: func.func @loops_first(
// CHECK-NOT:   gnn.relation
// CHECK:       %e = gnn.edge_set %p, %q

// No: the rows are of different index tensors.
func.func @two_index_tensors(%i: !index, %j: !index) -> !edges {
  %p = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %q = gnn.rowwise "aten.select.int"(%j, 0, 1) : (!index) -> !end
  %e = gnn.edge_set %p, %q : !end, !end -> !edges
  func.return %e : !edges
}

// CHECK-LABEL: func.func @two_index_tensors(
// CHECK-NOT:   gnn.relation
// CHECK:       %e = gnn.edge_set %p, %q

// No: both ends are the same row.
func.func @one_row_twice(%i: !index) -> !edges {
  %p = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %q = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end
  %e = gnn.edge_set %p, %q : !end, !end -> !edges
  func.return %e : !edges
}

// CHECK-LABEL: func.func @one_row_twice(
// CHECK-NOT:   gnn.relation
// CHECK:       %e = gnn.edge_set %p, %q
