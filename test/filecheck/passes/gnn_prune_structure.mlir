// RUN: gnnc-opt %s --split-input-file -p gnn-prune-structure | filecheck %s

// What nothing uses goes: two arguments of @forward, their results of @structure. The others move up. Features and what
// @structure takes are the signature and stay; so do operations, for dce to remove.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!d = tensor<?xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}, %w: tensor<?xf32, #gnn.on<edges "e">> {gnn.name = "edge_weight"})
    -> (!d, !e, !e, !d) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %r = gnn.reverse %e : !e -> !e
  %ones = gnn.fill 1.0 : f64 -> tensor<?xf32, #gnn.on<edges "e">>
  %in = gnn.aggregate sum %ones at target of %e : tensor<?xf32, #gnn.on<edges "e">>, !e -> !d
  %out = gnn.aggregate sum %ones at source of %e : tensor<?xf32, #gnn.on<edges "e">>, !e -> !d
  func.return %in, %e, %r, %out : !d, !e, !e, !d
}
func.func @forward(%unused: !x {gnn.name = "z"}, %out: !d {gnn.structure = 3 : i64}, %in: !d {gnn.structure = 0 : i64}, %x: !x {gnn.name = "x"},
    %r: !e {gnn.structure = 2 : i64}, %e: !e {gnn.structure = 1 : i64}) -> !x {
  %m = gnn.gather %x at source of %e : !x, !e -> !m
  %y = gnn.aggregate sum %m at target of %e : !m, !e -> !x
  %column = gnn.reshape %out : !d -> tensor<?x1xf32, #gnn.on<nodes "n">>
  %z = gnn.mul %y, %column : !x, tensor<?x1xf32, #gnn.on<nodes "n">> -> !x
  func.return %z : !x
}

// CHECK:       func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}, %w: tensor<?xf32, #gnn.on<edges "e">> {gnn.name = "edge_weight"}) -> (!gnn.edges<"e", "n" -> "n">, tensor<?xf32, #gnn.on<nodes "n">>) {
// CHECK-NEXT:  %e = gnn.relation %i :
// CHECK-NEXT:  %r = gnn.reverse %e :
// CHECK-NEXT:  %ones = gnn.fill 1.000000e+00 : f64
// CHECK-NEXT:  %in = gnn.aggregate sum %ones at target of %e :
// CHECK-NEXT:  %out = gnn.aggregate sum %ones at source of %e :
// CHECK-NEXT:  func.return %e, %out : !gnn.edges<"e", "n" -> "n">, tensor<?xf32, #gnn.on<nodes "n">>
// CHECK:       func.func @forward(%unused: tensor<?x4xf32, #gnn.on<nodes "n">> {gnn.name = "z"}, %out: tensor<?xf32, #gnn.on<nodes "n">> {gnn.structure = 1 : i64}, %x: tensor<?x4xf32, #gnn.on<nodes "n">> {gnn.name = "x"}, %e: !gnn.edges<"e", "n" -> "n"> {gnn.structure = 0 : i64}) -> tensor<?x4xf32, #gnn.on<nodes "n">> {
// CHECK-NEXT:  %m = gnn.gather %x at source of %e :

// -----

// A model without Convs needs nothing of the structure.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %y = gnn.relu %x : !x
  func.return %y : !x
}

// CHECK:       func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) {
// CHECK-NEXT:  %e = gnn.relation %i :
// CHECK-NEXT:  func.return
// CHECK:       func.func @forward(%x: tensor<?x4xf32, #gnn.on<nodes "n">> {gnn.name = "x"}) -> tensor<?x4xf32, #gnn.on<nodes "n">> {

// -----

// Two arguments that stand for one result.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}, %d: !x) -> (!e, !x) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e, %d : !e, !x
}
func.func @forward(%x: !x {gnn.name = "x"}, %a: !x {gnn.structure = 1 : i64}, %b: !x {gnn.structure = 1 : i64}) -> !x {
  %y = gnn.add %a, %b : !x, !x -> !x
  func.return %y : !x
}

// CHECK:       func.return %d : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK:       func.func @forward(%x: tensor<?x4xf32, #gnn.on<nodes "n">> {gnn.name = "x"}, %a: tensor<?x4xf32, #gnn.on<nodes "n">> {gnn.structure = 0 : i64}, %b: tensor<?x4xf32, #gnn.on<nodes "n">> {gnn.structure = 0 : i64})

// -----

// Arguments without any attributes are features.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
func.func @structure(%d: !x) -> !x {
  func.return %d : !x
}
func.func @forward(%x: !x, %unused: !x) -> !x {
  func.return %x : !x
}

// CHECK:       func.func @structure(%d: tensor<?x4xf32, #gnn.on<nodes "n">>) {
// CHECK:       func.func @forward(%x: tensor<?x4xf32, #gnn.on<nodes "n">>, %unused: tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">> {
