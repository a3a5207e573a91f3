// RUN: gnnc-opt %s --print-debuginfo -p gnn-raise-edge-sets,dce,gnn-raise-messages,gnn-prune-structure,dce,gnn-index-convs,gnn-split-conv-blocks | filecheck %s

// What a pass makes has the line of the user's model that it was made of: an edge set that of the index arithmetic, a mean
// that of the sum, a softmax that of the division, a block and its terminator that of the first reduction in it.
!index = tensor<2x?xi64, #gnn.on<edges "e">>
!index1 = tensor<2x?xi64, #gnn.on<edges "e.1">>
!index2 = tensor<2x?xi64, #gnn.on<edges "e.2">>
!end = tensor<?xi64, #gnn.on<edges "e">>
!end1 = tensor<?xi64, #gnn.on<edges "e.1">>
!end2 = tensor<?xi64, #gnn.on<edges "e.2">>
!mask = tensor<?xi1, #gnn.on<edges "e">>
!edges = !gnn.edges<"e.2", "n" -> "n">
!given = !gnn.edges<"e", "n" -> "n">
!range = tensor<?xi64, #gnn.on<nodes "n">>
!loops = tensor<2x?xi64, #gnn.on<nodes "n">>
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!d = tensor<?x1xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e.2">>
!one = tensor<?x1xf32, #gnn.on<edges "e.2">>

gnn.weight @w : tensor<4x4xf32> loc("model.py":1:0)
func.func @structure(%i: !index {gnn.name = "edge_index"}) -> (!edges, !given, !d) {
  %s = gnn.rowwise "aten.select.int"(%i, 0, 0) : (!index) -> !end loc("model.py":10:0)
  %t = gnn.rowwise "aten.select.int"(%i, 0, 1) : (!index) -> !end loc("model.py":11:0)
  %back = gnn.edge_set %t, %s : !end, !end -> !given loc("model.py":12:0)
  %ne = gnn.rowwise "aten.ne.Tensor"(%s, %t) : (!end, !end) -> !mask loc("model.py":13:0)
  %kept = gnn.whole_graph "aten.index.Tensor"(%i, [none, %ne]) : (!index, !mask) -> !index1 loc("model.py":14:0)
  %n = gnn.count on<nodes "n"> loc("model.py":15:0)
  %r = gnn.whole_graph "aten.arange.start"(0, %n) : (index) -> !range loc("model.py":16:0)
  %l = gnn.rowwise "aten.stack.default"([%r, %r]) : (!range, !range) -> !loops loc("model.py":17:0)
  %c = gnn.whole_graph "aten.cat.default"([%kept, %l], 1) : (!index1, !loops) -> !index2 loc("model.py":18:0)
  %p = gnn.rowwise "aten.select.int"(%c, 0, 0) : (!index2) -> !end2 loc("model.py":19:0)
  %q = gnn.rowwise "aten.select.int"(%c, 0, 1) : (!index2) -> !end2 loc("model.py":20:0)
  %e = gnn.edge_set %p, %q : !end2, !end2 -> !edges loc("model.py":21:0)
  %ones = gnn.fill 1.0 : f64 -> !one loc("model.py":22:0)
  %zeros = gnn.fill 0.0 : f64 -> !d loc("model.py":23:0)
  %sum = gnn.scatter sum %ones into %zeros with_init at target of %e : !one, !d, !edges loc("model.py":24:0)
  %count = gnn.rowwise "aten.clamp.default"(%sum, 1) : (!d) -> !d loc("model.py":25:0)
  func.return %e, %back, %count : !edges, !given, !d loc("model.py":26:0)
} loc("model.py":27:0)

func.func @forward(%x: !x {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %back: !given {gnn.structure = 1 : i64}, %count: !d {gnn.structure = 2 : i64}) -> !x {
  %w = gnn.load_weight @w : tensor<4x4xf32> loc("model.py":30:0)
  %h0 = gnn.linear %x, %w : !x, tensor<4x4xf32> -> !x loc("model.py":31:0)
  %m1 = gnn.gather %h0 at source of %back : !x, !given -> tensor<?x4xf32, #gnn.on<edges "e">> loc("model.py":32:0)
  %zeros = gnn.fill 0.0 : f64 -> !x loc("model.py":33:0)
  %h1 = gnn.scatter max %m1 into %zeros at target of %back : tensor<?x4xf32, #gnn.on<edges "e">>, !x, !given loc("model.py":34:0)
  %m2 = gnn.gather %h1 at source of %e : !x, !edges -> !m loc("model.py":35:0)
  %total = gnn.scatter sum %m2 into %zeros with_init at target of %e : !m, !x, !edges loc("model.py":36:0)
  %mean = gnn.div %total, %count : !x, !d -> !x loc("model.py":37:0)
  %scores = gnn.gather %mean at source of %e : !x, !edges -> !m loc("model.py":38:0)
  %max = gnn.scatter max %scores into %zeros at target of %e : !m, !x, !edges loc("model.py":39:0)
  %shift = gnn.gather %max at target of %e : !x, !edges -> !m loc("model.py":40:0)
  %shifted = gnn.sub %scores, %shift : !m, !m -> !m loc("model.py":41:0)
  %exp = gnn.exp %shifted : !m loc("model.py":42:0)
  %all = gnn.scatter sum %exp into %zeros with_init at target of %e : !m, !x, !edges loc("model.py":43:0)
  %spread = gnn.gather %all at target of %e : !x, !edges -> !m loc("model.py":44:0)
  %alpha = gnn.div %exp, %spread : !m, !m -> !m loc("model.py":45:0)
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !m, !x, !edges loc("model.py":46:0)
  func.return %y : !x loc("model.py":47:0)
} loc("model.py":48:0)

// CHECK:      gnn.weight @w : {{.*}} loc("model.py":1:0)
// CHECK-NEXT: func.func @structure(
// CHECK-NEXT: %back = gnn.relation %i : {{.*}} loc("model.py":11:0)
// CHECK-NEXT: %back_1 = gnn.reverse %back : {{.*}} loc("model.py":11:0)
// CHECK-NEXT: %0 = gnn.relation %i : {{.*}} loc("model.py":14:0)
// CHECK-NEXT: %1 = gnn.without_loops %0 : {{.*}} loc("model.py":14:0)
// CHECK-NEXT: %e = gnn.with_loops %1 : {{.*}} loc("model.py":18:0)
// CHECK-NEXT: func.return %e, %back_1 : {{.*}} loc("model.py":26:0)
// CHECK-NEXT: } loc("model.py":27:0)
// CHECK-NEXT: func.func @forward(
// CHECK-NEXT: %0 = gnn.conv_block layer 0
// CHECK-NEXT: %w = gnn.load_weight @w : {{.*}} loc("model.py":30:0)
// CHECK-NEXT: %h0 = gnn.linear %x_1, %w : {{.*}} loc("model.py":31:0)
// CHECK-NEXT: gnn.yield %h0 : {{.*}} loc("model.py":30:0)
// CHECK-NEXT: } loc("model.py":30:0)
// CHECK-NEXT: %1 = gnn.conv_block layer 1
// CHECK-NEXT: %m1 = gnn.gather %h0 at source of %back_1 : {{.*}} loc("model.py":32:0)
// CHECK-NEXT: %h1 = gnn.aggregate max %m1 at target of %back_1 layer 1 conv 0 : {{.*}} loc("model.py":34:0)
// CHECK-NEXT: gnn.yield %h1 : {{.*}} loc("model.py":34:0)
// CHECK-NEXT: } loc("model.py":34:0)
// CHECK-NEXT: %2 = gnn.conv_block layer 2
// CHECK-NEXT: %m2 = gnn.gather %h1 at source of %e_1 : {{.*}} loc("model.py":35:0)
// CHECK-NEXT: %mean = gnn.aggregate mean %m2 at target of %e_1 layer 2 conv 1 : {{.*}} loc("model.py":36:0)
// CHECK-NEXT: gnn.yield %mean : {{.*}} loc("model.py":36:0)
// CHECK-NEXT: } loc("model.py":36:0)
// CHECK-NEXT: %3 = gnn.conv_block layer 3
// CHECK-NEXT: %scores = gnn.gather %mean at source of %e_1 : {{.*}} loc("model.py":38:0)
// CHECK-NEXT: %alpha = gnn.edge_softmax %scores at target of %e_1 eps 0.000000e+00 layer 3 conv 2 : {{.*}} loc("model.py":45:0)
// CHECK-NEXT: %y = gnn.aggregate sum %alpha at target of %e_1 layer 3 conv 2 : {{.*}} loc("model.py":46:0)
// CHECK-NEXT: gnn.yield %y : {{.*}} loc("model.py":45:0)
// CHECK-NEXT: } loc("model.py":45:0)
// CHECK-NEXT: func.return %3 : {{.*}} loc("model.py":47:0)
// CHECK-NEXT: } loc("model.py":48:0)
