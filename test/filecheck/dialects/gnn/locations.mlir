// RUN: gnnc-opt %s --print-debuginfo | gnnc-opt --print-debuginfo | filecheck %s
// RUN: gnnc-opt %s --print-debuginfo --print-op-generic | gnnc-opt --print-debuginfo | filecheck %s
// RUN: gnnc-opt %s -p canonicalize --print-debuginfo | filecheck %s

// Locations name lines of the user's model; text, custom and generic, and canonicalize keep them.
#n = #gnn.on<nodes "n">
#e = #gnn.on<edges "e">
!x = tensor<?x4xf32, #n>
!m = tensor<?x4xf32, #e>
!e = !gnn.edges<"e", "n" -> "n">
gnn.weight @w : tensor<4x4xf32> loc("model.py":1:4)
%x, %e = "test.op"() : () -> (!x, !e) loc("model.py":2:4)
%w = gnn.load_weight @w : tensor<4x4xf32> loc("model.py":3:4)
%clamped = gnn.rowwise "aten.clamp.default"(%x, 0, none) {keyword = 1 : i64} : (!x) -> !x loc("model.py":4:4)
%mean = gnn.whole_graph "aten.mean.dim"(%x, [0], true) : (!x) -> tensor<1x4xf32> loc("model.py":5:4)
%h = gnn.conv_block layer 1 neighbors(%a = %clamped : !x) structure(%f = %e : !e) -> (!x) {
  %m = gnn.gather %a at source of %f : !x, !e -> !m loc("model.py":6:4)
  %y = gnn.aggregate sum %m at target of %f layer 1 conv 0 : !m, !e -> !x loc("model.py":7:4)
  gnn.yield %y : !x loc("model.py":8:4)
} loc("model.py":9:4)
%activated = gnn.elu %h alpha 1.0 : !x loc("model.py":10:4)
"test.op"(%activated, %mean, %w) : (!x, tensor<1x4xf32>, tensor<4x4xf32>) -> () loc("layers/conv.py":11:4)

// CHECK:      gnn.weight {{.*}} loc("model.py":1:4)
// CHECK-NEXT: "test.op"() {{.*}} loc("model.py":2:4)
// CHECK-NEXT: gnn.load_weight {{.*}} loc("model.py":3:4)
// CHECK-NEXT: gnn.rowwise {{.*}} loc("model.py":4:4)
// CHECK-NEXT: gnn.whole_graph {{.*}} loc("model.py":5:4)
// CHECK-NEXT: gnn.conv_block
// CHECK-NEXT: gnn.gather {{.*}} loc("model.py":6:4)
// CHECK-NEXT: gnn.aggregate {{.*}} loc("model.py":7:4)
// CHECK-NEXT: gnn.yield {{.*}} loc("model.py":8:4)
// CHECK-NEXT: } loc("model.py":9:4)
// CHECK-NEXT: gnn.elu {{.*}} loc("model.py":10:4)
// CHECK-NEXT: "test.op"(%activated, {{.*}} loc("layers/conv.py":11:4)
