// RUN: gnnc-opt %s -p dce | filecheck %s --match-full-lines
// RUN: gnnc-opt %s -p canonicalize | filecheck %s --match-full-lines

// Nothing uses these: all of them go, a block with all that it holds. A weight is a symbol and stays.
gnn.weight @w : tensor<4x4xf32>
!n = tensor<?x4xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!i = tensor<?xi64, #gnn.on<edges "e">>
!b = tensor<?xi1, #gnn.on<edges "e">>
!j = tensor<2x?xi64, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
!w = tensor<4x4xf32>
!v = tensor<4xf32>
%x, %y, %m, %src, %dst, %mask, %index, %e, %w, %v = "test.op"() : () -> (!n, !n, !m, !i, !i, !b, !j, !e, !w, !v)
%load_weight = gnn.load_weight @w : !w
%constant = gnn.constant 0.5 : f64 -> tensor<f64>
%fill = gnn.fill 1.0 : f64 -> !n
%count = gnn.count on<nodes "n">
%relation = gnn.relation %index : !j -> !e
%edge_set = gnn.edge_set %src, %dst : !i, !i -> !e
%without_loops = gnn.without_loops %e : !e -> !e
%with_loops = gnn.with_loops %e : !e -> !e
%where = gnn.where %e, %mask : !e, !b -> !e
%union = gnn.union %e, %e : !e, !e -> !e
%reverse = gnn.reverse %e : !e -> !e
%endpoints = gnn.endpoints source of %e : !e -> !i
%gather = gnn.gather %x at source of %e : !n, !e -> !m
%scatter = gnn.scatter sum %m into %x at target of %e : !m, !n, !e
%aggregate = gnn.aggregate sum %m at target of %e : !m, !e -> !n
%edge_softmax = gnn.edge_softmax %m at target of %e eps 0.0 : !m, !e
%add = gnn.add %x, %y : !n, !n -> !n
%sub = gnn.sub %x, %y : !n, !n -> !n
%mul = gnn.mul %x, %y : !n, !n -> !n
%div = gnn.div %x, %y : !n, !n -> !n
%relu = gnn.relu %x : !n
%leaky_relu = gnn.leaky_relu %x slope 0.5 : !n
%elu = gnn.elu %x alpha 0.5 : !n
%sigmoid = gnn.sigmoid %x : !n
%tanh = gnn.tanh %x : !n
%exp = gnn.exp %x : !n
%linear = gnn.linear %x, %w, %v : !n, !w, !v -> !n
%matmul = gnn.matmul %x, %w : !n, !w -> !n
%batch_norm = gnn.batch_norm %x, %v, %v affine %v, %v eps 0.5 : !n, !v, !v affine !v, !v
%layer_norm = gnn.layer_norm %x axes 1 eps 0.5 : !n
%concat = gnn.concat %x, %y axis 1 : !n, !n -> tensor<?x8xf32, #gnn.on<nodes "n">>
%reshape = gnn.reshape %x : !n -> tensor<?x2x2xf32, #gnn.on<nodes "n">>
%broadcast = gnn.broadcast %x : !n -> tensor<3x?x4xf32, #gnn.on<nodes "n">>
%rowwise = gnn.rowwise "aten.neg.default"(%x) : (!n) -> !n
%whole_graph = gnn.whole_graph "aten.neg.default"(%x) : (!n) -> !n
%block = gnn.conv_block layer 1 neighbors(%a = %x : !n) structure(%edges = %e : !e) -> (!n) {
  %gathered = gnn.gather %a at source of %edges : !n, !e -> !m
  %h = gnn.aggregate sum %gathered at target of %edges layer 1 conv 0 : !m, !e -> !n
  %dead = gnn.relu %h : !n
  gnn.yield %h : !n
}

// In a block that is used only dead operations go.
%kept = gnn.conv_block layer 1 neighbors(%b = %x : !n) structure(%f = %e : !e) -> (!n) {
  %g = gnn.gather %b at source of %f : !n, !e -> !m
  %k = gnn.aggregate sum %g at target of %f layer 1 conv 0 : !m, !e -> !n
  %dead2 = gnn.relu %k : !n
  gnn.yield %k : !n
}
"test.op"(%kept) : (!n) -> ()

// CHECK:      builtin.module {
// CHECK-NEXT: gnn.weight @w : tensor<4x4xf32>
// CHECK-NEXT: %x, %y, %m, %src, %dst, %mask, %index, %e, %w, %v = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi1, #gnn.on<edges "e">>, tensor<2x?xi64, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">, tensor<4x4xf32>, tensor<4xf32>)
// CHECK-NEXT: %kept = gnn.conv_block layer 1 neighbors(%b = %x : tensor<?x4xf32, #gnn.on<nodes "n">>) structure(%f = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>) {
// CHECK-NEXT:   %g = gnn.gather %b at source of %f : tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<edges "e">>
// CHECK-NEXT:   %k = gnn.aggregate sum %g at target of %f layer 1 conv 0 : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT:   gnn.yield %k : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: }
// CHECK-NEXT: "test.op"(%kept) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: }
