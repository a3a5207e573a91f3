// RUN: gnnc-opt %s --split-input-file -p gnn-index-convs | filecheck %s

// Each hop is a Conv of its own, in a layer of its own: APPNP with K = 3. Row-wise work between the hops adds nothing. The
// count of edges in @structure is no Conv.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!d = tensor<?x1xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!w = tensor<?x1xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, !d) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %ones = gnn.fill 1.0 : f64 -> !w
  %d = gnn.aggregate sum %ones at target of %e : !w, !e -> !d
  func.return %e, %d : !e, !d
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %d: !d {gnn.structure = 1 : i64}) -> !x {
  %s = gnn.gather %d at source of %e : !d, !e -> !w
  %m1 = gnn.gather %x at source of %e : !x, !e -> !m
  %p1 = gnn.mul %m1, %s : !m, !w -> !m
  %h1 = gnn.aggregate sum %p1 at target of %e : !m, !e -> !x
  %z1 = gnn.add %h1, %x : !x, !x -> !x
  %m2 = gnn.gather %z1 at source of %e : !x, !e -> !m
  %p2 = gnn.mul %m2, %s : !m, !w -> !m
  %h2 = gnn.aggregate sum %p2 at target of %e : !m, !e -> !x
  %z2 = gnn.add %h2, %x : !x, !x -> !x
  %m3 = gnn.gather %z2 at source of %e : !x, !e -> !m
  %p3 = gnn.mul %m3, %s : !m, !w -> !m
  %h3 = gnn.aggregate sum %p3 at target of %e : !m, !e -> !x
  %z3 = gnn.add %h3, %x : !x, !x -> !x
  func.return %z3 : !x
}

// CHECK:       %d = gnn.aggregate sum %ones at target of %e :
// CHECK-LABEL: func.func @forward(
// CHECK:       %h1 = gnn.aggregate sum %p1 at target of %e layer 1 conv 0 :
// CHECK:       %h2 = gnn.aggregate sum %p2 at target of %e layer 2 conv 1 :
// CHECK:       %h3 = gnn.aggregate sum %p3 at target of %e layer 3 conv 2 :

// -----

// Two relations, and both directions of one, in one layer: three Convs of layer 1. Two reductions of one set at one end in
// one layer are one Conv. What uses their results from neighbours is of layer 2.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!a = tensor<?x4xf32, #gnn.on<edges "a">>
!b = tensor<?x4xf32, #gnn.on<edges "b">>
func.func @structure() -> () {
  func.return
}
func.func @forward(%x: !x {gnn.name = "x"}, %a: !gnn.edges<"a", "n" -> "n"> {gnn.structure = 0 : i64}, %b: !gnn.edges<"b", "n" -> "n"> {gnn.structure = 1 : i64}) -> !x {
  %ma = gnn.gather %x at source of %a : !x, !gnn.edges<"a", "n" -> "n"> -> !a
  %mb = gnn.gather %x at source of %b : !x, !gnn.edges<"b", "n" -> "n"> -> !b
  %mc = gnn.gather %x at target of %b : !x, !gnn.edges<"b", "n" -> "n"> -> !b
  %ha = gnn.aggregate sum %ma at target of %a : !a, !gnn.edges<"a", "n" -> "n"> -> !x
  %hb = gnn.aggregate mean %mb at target of %b : !b, !gnn.edges<"b", "n" -> "n"> -> !x
  %hc = gnn.aggregate sum %mc at source of %b : !b, !gnn.edges<"b", "n" -> "n"> -> !x
  %hd = gnn.aggregate max %mb at target of %b : !b, !gnn.edges<"b", "n" -> "n"> -> !x
  %ab = gnn.add %ha, %hb : !x, !x -> !x
  %cd = gnn.add %hc, %hd : !x, !x -> !x
  %y = gnn.add %ab, %cd : !x, !x -> !x
  %my = gnn.gather %y at source of %a : !x, !gnn.edges<"a", "n" -> "n"> -> !a
  %z = gnn.aggregate sum %my at target of %a : !a, !gnn.edges<"a", "n" -> "n"> -> !x
  func.return %z : !x
}

// CHECK-LABEL: func.func @forward(
// CHECK:       %ha = gnn.aggregate sum %ma at target of %a layer 1 conv 0 :
// CHECK-NEXT:  %hb = gnn.aggregate mean %mb at target of %b layer 1 conv 1 :
// CHECK-NEXT:  %hc = gnn.aggregate sum %mc at source of %b layer 1 conv 2 :
// CHECK-NEXT:  %hd = gnn.aggregate max %mb at target of %b layer 1 conv 1 :
// CHECK:       %z = gnn.aggregate sum %my at target of %a layer 2 conv 3 :

// -----

// Flow target_to_source: messages come from targets and meet at sources. The other end alone decides what a neighbour is.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure() -> () {
  func.return
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %m1 = gnn.gather %x at target of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at source of %e : !m, !e -> !x
  %m2 = gnn.gather %h1 at target of %e : !x, !e -> !m
  %h2 = gnn.aggregate sum %m2 at source of %e : !m, !e -> !x
  func.return %h2 : !x
}

// CHECK:       %h1 = gnn.aggregate sum %m1 at source of %e layer 1 conv 0 :
// CHECK:       %h2 = gnn.aggregate sum %m2 at source of %e layer 2 conv 1 :

// -----

// A message of the targets' own features takes no hop: it stays in the layer of what it fetches, layer 0 for features. So
// does one of what neighbours have of the structure: it is at hand for all nodes.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure() -> () {
  func.return
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}, %d: !x {gnn.structure = 1 : i64}) -> !x {
  %own = gnn.gather %x at target of %e : !x, !e -> !m
  %deg = gnn.gather %d at source of %e : !x, !e -> !m
  %m0 = gnn.mul %own, %deg : !m, !m -> !m
  %h0 = gnn.aggregate sum %m0 at target of %e : !m, !e -> !x
  %m1 = gnn.gather %h0 at source of %e : !x, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !x
  %own1 = gnn.gather %h1 at target of %e : !x, !e -> !m
  %h1b = gnn.aggregate max %own1 at target of %e : !m, !e -> !x
  func.return %h1b : !x
}

// CHECK:       %h0 = gnn.aggregate sum %m0 at target of %e layer 0 conv 0 :
// CHECK:       %h1 = gnn.aggregate sum %m1 at target of %e layer 1 conv 1 :
// CHECK:       %h1b = gnn.aggregate max %own1 at target of %e layer 1 conv 1 :

// -----

// One edge value, reduced at both ends: at each the other end's features are the neighbours'. Fetched again at the end
// where it was reduced, a result takes no hop; at the other end it takes one.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure() -> () {
  func.return
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> (!x, !x) {
  %m = gnn.gather %x at source of %e : !x, !e -> !m
  %in = gnn.aggregate sum %m at target of %e : !m, !e -> !x
  %out = gnn.aggregate sum %m at source of %e : !m, !e -> !x
  %again = gnn.gather %in at target of %e : !x, !e -> !m
  %same = gnn.aggregate max %again at target of %e : !m, !e -> !x
  %other = gnn.aggregate max %again at source of %e : !m, !e -> !x
  func.return %same, %other : !x, !x
}

// CHECK:       %in = gnn.aggregate sum %m at target of %e layer 1 conv 0 :
// CHECK:       %out = gnn.aggregate sum %m at source of %e layer 0 conv 1 :
// CHECK:       %same = gnn.aggregate max %again at target of %e layer 1 conv 0 :
// CHECK:       %other = gnn.aggregate max %again at source of %e layer 2 conv 2 :

// -----

// A reduction of structure alone, should one be in @forward, is of layer 0: no batch computes it for neighbours. A scatter
// into rows is of the layer of those rows at least.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure() -> () {
  func.return
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !x {
  %ones = gnn.fill 1.0 : f64 -> !m
  %count = gnn.aggregate sum %ones at target of %e : !m, !e -> !x
  %m = gnn.gather %count at source of %e : !x, !e -> !m
  %y = gnn.aggregate sum %m at target of %e : !m, !e -> !x
  %z = gnn.scatter sum %ones into %y with_init at target of %e : !m, !x, !e
  func.return %z : !x
}

// CHECK:       %count = gnn.aggregate sum %ones at target of %e layer 0 conv 0 :
// CHECK:       %y = gnn.aggregate sum %m at target of %e layer 1 conv 1 :
// CHECK:       %z = gnn.scatter sum %ones into %y with_init at target of %e layer 1 conv 1 :
