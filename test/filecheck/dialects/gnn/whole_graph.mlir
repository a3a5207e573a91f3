// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#e = #gnn.on<edges "e">
!t = tensor<?xi64, #e>
%src, %dst, %w = "test.op"() : () -> (!t, !t, tensor<3xf32>)
%keep = gnn.whole_graph "aten.ne.Tensor"(%src, %dst) : (!t, !t) -> tensor<?xi1, #e>
%sum = gnn.whole_graph "aten.sum.dim_IntList"(%w, [0], true) {dtype = f64} : (tensor<3xf32>) -> tensor<1xf64>
%parts:2 = gnn.whole_graph "aten.split.Tensor"(%w, 2) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<1xf32>)
%noted = gnn.whole_graph "aten.neg.default"(%w) attributes {note} : (tensor<3xf32>) -> tensor<3xf32>
%both = gnn.whole_graph "aten.sum.default"(%w) {dtype = f64} attributes {note} : (tensor<3xf32>) -> tensor<f64>

// CHECK:      %src, %dst, %w = "test.op"() : () -> (tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>, tensor<3xf32>)
// CHECK-NEXT: %keep = gnn.whole_graph "aten.ne.Tensor"(%src, %dst) : (tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>) -> tensor<?xi1, #gnn.on<edges "e">>
// CHECK-NEXT: %sum = gnn.whole_graph "aten.sum.dim_IntList"(%w, [0], true) {dtype = f64} : (tensor<3xf32>) -> tensor<1xf64>
// CHECK-NEXT: %parts, %parts_1 = gnn.whole_graph "aten.split.Tensor"(%w, 2) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<1xf32>)
// CHECK-NEXT: %noted = gnn.whole_graph "aten.neg.default"(%w) attributes {note} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %both = gnn.whole_graph "aten.sum.default"(%w) {dtype = f64} attributes {note} : (tensor<3xf32>) -> tensor<f64>
