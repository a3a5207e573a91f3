// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
!t = tensor<?x4xf32, #n>
%x, %y = "test.op"() : () -> (!t, !t)
%none = gnn.rowwise "aten.randn.default"() : () -> !t
%clamp = gnn.rowwise "aten.clamp.default"(%x, 0, none) : (!t) -> !t
%cat = gnn.rowwise "aten.cat.default"([%x, %y], -1) : (!t, !t) -> tensor<?x8xf32, #n>
%topk:2 = gnn.rowwise "aten.topk.default"(%x, 2, 1, true, false) : (!t) -> (tensor<?x2xf32, #n>, tensor<?x2xi64, #n>)
%kinds = gnn.rowwise "aten.kinds.default"(%x, -0.5, 0.1 : f32, 3 : i32, f32, "mean", [], [[1, 2], [none]], [true]) : (!t) -> !t
%keywords = gnn.rowwise "aten.add.Tensor"(%x, %y) {alpha = 2 : i64, dtype = f32, "two words" = true} : (!t, !t) -> !t
%noted = gnn.rowwise "aten.neg.default"(%x) attributes {note, size = 1 : i64} : (!t) -> !t
%both = gnn.rowwise "aten.add.Tensor"(%x, %y) {alpha = 2 : i64} attributes {note} : (!t, !t) -> !t

// CHECK:      %x, %y = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT: %none = gnn.rowwise "aten.randn.default"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %clamp = gnn.rowwise "aten.clamp.default"(%x, 0, none) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %cat = gnn.rowwise "aten.cat.default"([%x, %y], -1) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %topk, %topk_1 = gnn.rowwise "aten.topk.default"(%x, 2, 1, true, false) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> (tensor<?x2xf32, #gnn.on<nodes "n">>, tensor<?x2xi64, #gnn.on<nodes "n">>)
// CHECK-NEXT: %kinds = gnn.rowwise "aten.kinds.default"(%x, -5.000000e-01 : f64, 1.000000e-01 : f32, 3 : i32, f32, "mean", [], {{\[\[}}1, 2], [none]], [true]) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %keywords = gnn.rowwise "aten.add.Tensor"(%x, %y) {alpha = 2 : i64, dtype = f32, "two words" = true} : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted = gnn.rowwise "aten.neg.default"(%x) attributes {note, size = 1 : i64} : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %both = gnn.rowwise "aten.add.Tensor"(%x, %y) {alpha = 2 : i64} attributes {note} : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">>
