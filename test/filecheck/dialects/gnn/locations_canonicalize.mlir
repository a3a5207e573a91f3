// RUN: gnnc-opt %s -p canonicalize --print-debuginfo | filecheck %s

// What a rewrite makes has the location of what it replaces.
#n = #gnn.on<nodes "n">
!x = tensor<?x4xf32, #n>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
%x, %e = "test.op"() : () -> (!x, !e) loc("model.py":1:4)
%y = gnn.reshape %x : !x -> tensor<?x2x2xf32, #n> loc("model.py":2:4)
%z = gnn.reshape %y : tensor<?x2x2xf32, #n> -> tensor<?x1x4xf32, #n> loc("model.py":3:4)
%r = gnn.reverse %e : !e -> !e loc("model.py":4:4)
%m = gnn.gather %x at source of %r : !x, !e -> !m loc("model.py":5:4)
%h = gnn.aggregate sum %m at target of %r : !m, !e -> !x loc("model.py":6:4)
"test.op"(%z, %h) : (tensor<?x1x4xf32, #n>, !x) -> () loc("model.py":7:4)

// CHECK:      "test.op"() {{.*}} loc("model.py":1:4)
// CHECK-NEXT: gnn.reshape %x {{.*}} -> tensor<?x1x4xf32, #gnn.on<nodes "n">> loc("model.py":3:4)
// CHECK-NEXT: gnn.gather %x at target of %e {{.*}} loc("model.py":5:4)
// CHECK-NEXT: gnn.aggregate sum %m at source of %e {{.*}} loc("model.py":6:4)
// CHECK-NEXT: "test.op"(%z, %h) {{.*}} loc("model.py":7:4)
