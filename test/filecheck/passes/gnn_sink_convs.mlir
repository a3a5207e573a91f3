// RUN: gnnc-opt %s -p gnn-sink-convs | filecheck %s

!n = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
!w = tensor<4x4xf32>
%x, %set, %w = "test.op"() : () -> (!n, !e, !w)

// The second Conv waits until the first one's result has been used; one that nothing uses stays.
// CHECK: gnn.fused_conv
// CHECK: gnn.aggregate sum
// CHECK: gnn.linear
// CHECK: gnn.fused_conv
// CHECK: gnn.aggregate max
// CHECK: gnn.linear
// CHECK: gnn.fused_conv
// CHECK: gnn.aggregate min
%a = gnn.fused_conv(%i = %x : !n, %j = %set : !e) -> (!n) {
  %m = gnn.gather %i at source of %j : !n, !e -> !m
  %s = gnn.aggregate sum %m at target of %j layer 1 conv 0 : !m, !e -> !n
  gnn.yield %s : !n
}
%b = gnn.fused_conv(%i = %x : !n, %j = %set : !e) -> (!n) {
  %m = gnn.gather %i at source of %j : !n, !e -> !m
  %s = gnn.aggregate max %m at target of %j layer 1 conv 1 : !m, !e -> !n
  gnn.yield %s : !n
}
%p = gnn.linear %a, %w : !n, !w -> !n
%q = gnn.linear %b, %w, %p : !n, !w, !n -> !n
%c = gnn.fused_conv(%i = %x : !n, %j = %set : !e) -> (!n) {
  %m = gnn.gather %i at source of %j : !n, !e -> !m
  %s = gnn.aggregate min %m at target of %j layer 1 conv 2 : !m, !e -> !n
  gnn.yield %s : !n
}
"test.op"(%q) : (!n) -> ()
