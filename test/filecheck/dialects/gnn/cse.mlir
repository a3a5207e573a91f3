// RUN: gnnc-opt %s -p cse | filecheck %s --match-full-lines

// Every operation twice: the second goes and its uses become uses of the first.
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
%load_weight_again = gnn.load_weight @w : !w
"test.op"(%load_weight, %load_weight_again) : (!w, !w) -> ()
%constant = gnn.constant 0.5 : f64 -> tensor<f64>
%constant_again = gnn.constant 0.5 : f64 -> tensor<f64>
"test.op"(%constant, %constant_again) : (tensor<f64>, tensor<f64>) -> ()
%fill = gnn.fill 1.0 : f64 -> !n
%fill_again = gnn.fill 1.0 : f64 -> !n
"test.op"(%fill, %fill_again) : (!n, !n) -> ()
%count = gnn.count on<nodes "n">
%count_again = gnn.count on<nodes "n">
"test.op"(%count, %count_again) : (index, index) -> ()
%relation = gnn.relation %index : !j -> !e
%relation_again = gnn.relation %index : !j -> !e
"test.op"(%relation, %relation_again) : (!e, !e) -> ()
%edge_set = gnn.edge_set %src, %dst : !i, !i -> !e
%edge_set_again = gnn.edge_set %src, %dst : !i, !i -> !e
"test.op"(%edge_set, %edge_set_again) : (!e, !e) -> ()
%without_loops = gnn.without_loops %e : !e -> !e
%without_loops_again = gnn.without_loops %e : !e -> !e
"test.op"(%without_loops, %without_loops_again) : (!e, !e) -> ()
%with_loops = gnn.with_loops %e : !e -> !e
%with_loops_again = gnn.with_loops %e : !e -> !e
"test.op"(%with_loops, %with_loops_again) : (!e, !e) -> ()
%where = gnn.where %e, %mask : !e, !b -> !e
%where_again = gnn.where %e, %mask : !e, !b -> !e
"test.op"(%where, %where_again) : (!e, !e) -> ()
%union = gnn.union %e, %e : !e, !e -> !e
%union_again = gnn.union %e, %e : !e, !e -> !e
"test.op"(%union, %union_again) : (!e, !e) -> ()
%reverse = gnn.reverse %e : !e -> !e
%reverse_again = gnn.reverse %e : !e -> !e
"test.op"(%reverse, %reverse_again) : (!e, !e) -> ()
%endpoints = gnn.endpoints source of %e : !e -> !i
%endpoints_again = gnn.endpoints source of %e : !e -> !i
"test.op"(%endpoints, %endpoints_again) : (!i, !i) -> ()
%gather = gnn.gather %x at source of %e : !n, !e -> !m
%gather_again = gnn.gather %x at source of %e : !n, !e -> !m
"test.op"(%gather, %gather_again) : (!m, !m) -> ()
%scatter = gnn.scatter sum %m into %x at target of %e : !m, !n, !e
%scatter_again = gnn.scatter sum %m into %x at target of %e : !m, !n, !e
"test.op"(%scatter, %scatter_again) : (!n, !n) -> ()
%aggregate = gnn.aggregate sum %m at target of %e : !m, !e -> !n
%aggregate_again = gnn.aggregate sum %m at target of %e : !m, !e -> !n
"test.op"(%aggregate, %aggregate_again) : (!n, !n) -> ()
%edge_softmax = gnn.edge_softmax %m at target of %e eps 0.0 : !m, !e
%edge_softmax_again = gnn.edge_softmax %m at target of %e eps 0.0 : !m, !e
"test.op"(%edge_softmax, %edge_softmax_again) : (!m, !m) -> ()
%add = gnn.add %x, %y : !n, !n -> !n
%add_again = gnn.add %x, %y : !n, !n -> !n
"test.op"(%add, %add_again) : (!n, !n) -> ()
%sub = gnn.sub %x, %y : !n, !n -> !n
%sub_again = gnn.sub %x, %y : !n, !n -> !n
"test.op"(%sub, %sub_again) : (!n, !n) -> ()
%mul = gnn.mul %x, %y : !n, !n -> !n
%mul_again = gnn.mul %x, %y : !n, !n -> !n
"test.op"(%mul, %mul_again) : (!n, !n) -> ()
%div = gnn.div %x, %y : !n, !n -> !n
%div_again = gnn.div %x, %y : !n, !n -> !n
"test.op"(%div, %div_again) : (!n, !n) -> ()
%relu = gnn.relu %x : !n
%relu_again = gnn.relu %x : !n
"test.op"(%relu, %relu_again) : (!n, !n) -> ()
%leaky_relu = gnn.leaky_relu %x slope 0.5 : !n
%leaky_relu_again = gnn.leaky_relu %x slope 0.5 : !n
"test.op"(%leaky_relu, %leaky_relu_again) : (!n, !n) -> ()
%elu = gnn.elu %x alpha 0.5 : !n
%elu_again = gnn.elu %x alpha 0.5 : !n
"test.op"(%elu, %elu_again) : (!n, !n) -> ()
%sigmoid = gnn.sigmoid %x : !n
%sigmoid_again = gnn.sigmoid %x : !n
"test.op"(%sigmoid, %sigmoid_again) : (!n, !n) -> ()
%tanh = gnn.tanh %x : !n
%tanh_again = gnn.tanh %x : !n
"test.op"(%tanh, %tanh_again) : (!n, !n) -> ()
%exp = gnn.exp %x : !n
%exp_again = gnn.exp %x : !n
"test.op"(%exp, %exp_again) : (!n, !n) -> ()
%linear = gnn.linear %x, %w, %v : !n, !w, !v -> !n
%linear_again = gnn.linear %x, %w, %v : !n, !w, !v -> !n
"test.op"(%linear, %linear_again) : (!n, !n) -> ()
%matmul = gnn.matmul %x, %w : !n, !w -> !n
%matmul_again = gnn.matmul %x, %w : !n, !w -> !n
"test.op"(%matmul, %matmul_again) : (!n, !n) -> ()
%batch_norm = gnn.batch_norm %x, %v, %v affine %v, %v eps 0.5 : !n, !v, !v affine !v, !v
%batch_norm_again = gnn.batch_norm %x, %v, %v affine %v, %v eps 0.5 : !n, !v, !v affine !v, !v
"test.op"(%batch_norm, %batch_norm_again) : (!n, !n) -> ()
%layer_norm = gnn.layer_norm %x axes 1 eps 0.5 : !n
%layer_norm_again = gnn.layer_norm %x axes 1 eps 0.5 : !n
"test.op"(%layer_norm, %layer_norm_again) : (!n, !n) -> ()
%concat = gnn.concat %x, %y axis 1 : !n, !n -> tensor<?x8xf32, #gnn.on<nodes "n">>
%concat_again = gnn.concat %x, %y axis 1 : !n, !n -> tensor<?x8xf32, #gnn.on<nodes "n">>
"test.op"(%concat, %concat_again) : (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>) -> ()
%reshape = gnn.reshape %x : !n -> tensor<?x2x2xf32, #gnn.on<nodes "n">>
%reshape_again = gnn.reshape %x : !n -> tensor<?x2x2xf32, #gnn.on<nodes "n">>
"test.op"(%reshape, %reshape_again) : (tensor<?x2x2xf32, #gnn.on<nodes "n">>, tensor<?x2x2xf32, #gnn.on<nodes "n">>) -> ()
%broadcast = gnn.broadcast %x : !n -> tensor<3x?x4xf32, #gnn.on<nodes "n">>
%broadcast_again = gnn.broadcast %x : !n -> tensor<3x?x4xf32, #gnn.on<nodes "n">>
"test.op"(%broadcast, %broadcast_again) : (tensor<3x?x4xf32, #gnn.on<nodes "n">>, tensor<3x?x4xf32, #gnn.on<nodes "n">>) -> ()
%rowwise = gnn.rowwise "aten.neg.default"(%x) : (!n) -> !n
%rowwise_again = gnn.rowwise "aten.neg.default"(%x) : (!n) -> !n
"test.op"(%rowwise, %rowwise_again) : (!n, !n) -> ()
%whole_graph = gnn.whole_graph "aten.neg.default"(%x) : (!n) -> !n
%whole_graph_again = gnn.whole_graph "aten.neg.default"(%x) : (!n) -> !n
"test.op"(%whole_graph, %whole_graph_again) : (!n, !n) -> ()

// Another end, reduction, number, attribute or domain makes another value.
%relu_noted = gnn.relu %x {note} : !n
%elu_other = gnn.elu %x alpha 0.25 : !n
%gather_target = gnn.gather %x at target of %e : !n, !e -> !m
%aggregate_max = gnn.aggregate max %m at target of %e : !m, !e -> !n
%scatter_init = gnn.scatter sum %m into %x with_init at target of %e : !m, !n, !e
%count_edges = gnn.count on<edges "n">
%fill_edges = gnn.fill 1.0 : f64 -> !m
%rowwise_other = gnn.rowwise "aten.abs.default"(%x) : (!n) -> !n
"test.op"(%relu_noted, %elu_other, %gather_target, %aggregate_max) : (!n, !n, !m, !n) -> ()
"test.op"(%scatter_init, %count_edges, %fill_edges, %rowwise_other) : (!n, index, !m, !n) -> ()

// CHECK:      gnn.weight @w : tensor<4x4xf32>
// CHECK-NEXT: %x, %y, %m, %src, %dst, %mask, %index, %e, %w, %v = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi1, #gnn.on<edges "e">>, tensor<2x?xi64, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">, tensor<4x4xf32>, tensor<4xf32>)
// CHECK-NEXT: %load_weight = gnn.load_weight @w : tensor<4x4xf32>
// CHECK-NEXT: "test.op"(%load_weight, %load_weight) : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
// CHECK-NEXT: %constant = gnn.constant 5.000000e-01 : f64 -> tensor<f64>
// CHECK-NEXT: "test.op"(%constant, %constant) : (tensor<f64>, tensor<f64>) -> ()
// CHECK-NEXT: %fill = gnn.fill 1.000000e+00 : f64 -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%fill, %fill) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %count = gnn.count on<nodes "n">
// CHECK-NEXT: "test.op"(%count, %count) : (index, index) -> ()
// CHECK-NEXT: %relation = gnn.relation %index : tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%relation, %relation) : (!gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "n" -> "n">) -> ()
// CHECK-NEXT: %edge_set = gnn.edge_set %src, %dst : tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%edge_set, %edge_set) : (!gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "n" -> "n">) -> ()
// CHECK-NEXT: %without_loops = gnn.without_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%without_loops, %without_loops) : (!gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "n" -> "n">) -> ()
// CHECK-NEXT: %with_loops = gnn.with_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%with_loops, %with_loops) : (!gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "n" -> "n">) -> ()
// CHECK-NEXT: %where = gnn.where %e, %mask : !gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%where, %where) : (!gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "n" -> "n">) -> ()
// CHECK-NEXT: %union = gnn.union %e, %e : !gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%union, %union) : (!gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "n" -> "n">) -> ()
// CHECK-NEXT: %reverse = gnn.reverse %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%reverse, %reverse) : (!gnn.edges<"e", "n" -> "n">, !gnn.edges<"e", "n" -> "n">) -> ()
// CHECK-NEXT: %endpoints = gnn.endpoints source of %e : !gnn.edges<"e", "n" -> "n"> -> tensor<?xi64, #gnn.on<edges "e">>
// CHECK-NEXT: "test.op"(%endpoints, %endpoints) : (tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>) -> ()
// CHECK-NEXT: %gather = gnn.gather %x at source of %e : tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<edges "e">>
// CHECK-NEXT: "test.op"(%gather, %gather) : (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<edges "e">>) -> ()
// CHECK-NEXT: %scatter = gnn.scatter sum %m into %x at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%scatter, %scatter) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %aggregate = gnn.aggregate sum %m at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%aggregate, %aggregate) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %edge_softmax = gnn.edge_softmax %m at target of %e eps 0.000000e+00 : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: "test.op"(%edge_softmax, %edge_softmax) : (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<edges "e">>) -> ()
// CHECK-NEXT: %add = gnn.add %x, %y : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%add, %add) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %sub = gnn.sub %x, %y : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%sub, %sub) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %mul = gnn.mul %x, %y : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%mul, %mul) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %div = gnn.div %x, %y : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%div, %div) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %relu = gnn.relu %x : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%relu, %relu) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %leaky_relu = gnn.leaky_relu %x slope 5.000000e-01 : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%leaky_relu, %leaky_relu) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %elu = gnn.elu %x alpha 5.000000e-01 : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%elu, %elu) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %sigmoid = gnn.sigmoid %x : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%sigmoid, %sigmoid) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %tanh = gnn.tanh %x : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%tanh, %tanh) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %exp = gnn.exp %x : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%exp, %exp) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %linear = gnn.linear %x, %w, %v : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<4x4xf32>, tensor<4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%linear, %linear) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %matmul = gnn.matmul %x, %w : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<4x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%matmul, %matmul) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %batch_norm = gnn.batch_norm %x, %v, %v affine %v, %v eps 5.000000e-01 : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<4xf32>, tensor<4xf32> affine tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: "test.op"(%batch_norm, %batch_norm) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %layer_norm = gnn.layer_norm %x axes 1 eps 5.000000e-01 : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%layer_norm, %layer_norm) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %concat = gnn.concat %x, %y axis 1 : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%concat, %concat) : (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %reshape = gnn.reshape %x : tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x2x2xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%reshape, %reshape) : (tensor<?x2x2xf32, #gnn.on<nodes "n">>, tensor<?x2x2xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %broadcast = gnn.broadcast %x : tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<3x?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%broadcast, %broadcast) : (tensor<3x?x4xf32, #gnn.on<nodes "n">>, tensor<3x?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %rowwise = gnn.rowwise "aten.neg.default"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%rowwise, %rowwise) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %whole_graph = gnn.whole_graph "aten.neg.default"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%whole_graph, %whole_graph) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: %relu_noted = gnn.relu %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %elu_other = gnn.elu %x alpha 2.500000e-01 : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %gather_target = gnn.gather %x at target of %e : tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<edges "e">>
// CHECK-NEXT: %aggregate_max = gnn.aggregate max %m at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %scatter_init = gnn.scatter sum %m into %x with_init at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %count_edges = gnn.count on<edges "n">
// CHECK-NEXT: %fill_edges = gnn.fill 1.000000e+00 : f64 -> tensor<?x4xf32, #gnn.on<edges "e">>
// CHECK-NEXT: %rowwise_other = gnn.rowwise "aten.abs.default"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%relu_noted, %elu_other, %gather_target, %aggregate_max) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
// CHECK-NEXT: "test.op"(%scatter_init, %count_edges, %fill_edges, %rowwise_other) : (tensor<?x4xf32, #gnn.on<nodes "n">>, index, tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()
