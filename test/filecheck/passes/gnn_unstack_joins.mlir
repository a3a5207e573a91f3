// RUN: gnnc-opt %s -p gnn-unstack-joins --split-input-file | filecheck %s

// CHECK: func.func @maximum
// CHECK-NOT: aten.stack
// CHECK: %[[M:.*]] = gnn.rowwise "aten.maximum.default"(%{{.*}}, %{{.*}})
// CHECK: %[[L:.*]] = gnn.rowwise "aten.maximum.default"(%[[M]], %{{.*}})
// CHECK: func.return %[[L]]
!h = tensor<?x8xf32, #gnn.on<nodes "n">>
func.func @maximum(%a: !h, %b: !h, %c: !h) -> !h {
  %s = gnn.rowwise "aten.stack.default"([%a, %b, %c], -1) : (!h, !h, !h) -> tensor<?x8x3xf32, #gnn.on<nodes "n">>
  %y, %at = gnn.rowwise "aten.max.dim"(%s, 2) : (tensor<?x8x3xf32, #gnn.on<nodes "n">>) -> (!h, tensor<?x8xi64, #gnn.on<nodes "n">>)
  func.return %y : !h
}

// -----

// CHECK: func.func @where
// CHECK: aten.stack
!h = tensor<?x8xf32, #gnn.on<nodes "n">>
!i = tensor<?x8xi64, #gnn.on<nodes "n">>
func.func @where(%a: !h, %b: !h) -> (!h, !i) {
  %s = gnn.rowwise "aten.stack.default"([%a, %b], -1) : (!h, !h) -> tensor<?x8x2xf32, #gnn.on<nodes "n">>
  %y, %at = gnn.rowwise "aten.max.dim"(%s, 2) : (tensor<?x8x2xf32, #gnn.on<nodes "n">>) -> (!h, !i)
  func.return %y, %at : !h, !i
}

// -----

// CHECK: func.func @mean
// CHECK: %[[S:.*]] = gnn.add
// CHECK: %[[N:.*]] = gnn.constant 2 : i64
// CHECK: %[[M:.*]] = gnn.div %[[S]], %[[N]]
// CHECK: gnn.reshape %[[M]]
!h = tensor<?x8xf32, #gnn.on<nodes "n">>
!k = tensor<1x?x8xf32, #gnn.on<nodes "n">>
func.func @mean(%a: !h, %b: !h) -> !k {
  %s = gnn.rowwise "aten.stack.default"([%a, %b]) : (!h, !h) -> tensor<2x?x8xf32, #gnn.on<nodes "n">>
  %y = gnn.rowwise "aten.mean.dim"(%s, [0], true) : (tensor<2x?x8xf32, #gnn.on<nodes "n">>) -> !k
  func.return %y : !k
}

// -----

// Along another axis, or of one value.
// CHECK: func.func @other
// CHECK: aten.stack
// CHECK: aten.amax
// CHECK-NOT: aten.stack
// CHECK: func.return %{{.*}}, %b
!h = tensor<?x8xf32, #gnn.on<nodes "n">>
!g = tensor<?x2xf32, #gnn.on<nodes "n">>
func.func @other(%a: !h, %b: !h) -> (!g, !h) {
  %s = gnn.rowwise "aten.stack.default"([%a, %b], 1) : (!h, !h) -> tensor<?x2x8xf32, #gnn.on<nodes "n">>
  %y = gnn.rowwise "aten.amax.default"(%s, [2]) : (tensor<?x2x8xf32, #gnn.on<nodes "n">>) -> !g
  %t = gnn.rowwise "aten.stack.default"([%b], 1) : (!h) -> tensor<?x1x8xf32, #gnn.on<nodes "n">>
  %z = gnn.rowwise "aten.sum.dim_IntList"(%t, [1]) : (tensor<?x1x8xf32, #gnn.on<nodes "n">>) -> !h
  func.return %y, %z : !g, !h
}
