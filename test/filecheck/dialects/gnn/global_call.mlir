// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%sum, %count = "test.op"() : () -> (tensor<1x4xf32>, index)
%mean = gnn.global_call "aten.div.Tensor"(%sum, %count) : (tensor<1x4xf32>, index) -> tensor<1x4xf32>
%n = gnn.global_call "aten.scalar_tensor.default"(%count) {dtype = f64} : (index) -> tensor<f64>
%parts:2 = gnn.global_call "aten.split.Tensor"(%mean, 2, 1) : (tensor<1x4xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
%eye = gnn.global_call "aten.eye.default"(4) attributes {note} : () -> tensor<4x4xf32>

// CHECK:      %sum, %count = "test.op"() : () -> (tensor<1x4xf32>, index)
// CHECK-NEXT: %mean = gnn.global_call "aten.div.Tensor"(%sum, %count) : (tensor<1x4xf32>, index) -> tensor<1x4xf32>
// CHECK-NEXT: %n = gnn.global_call "aten.scalar_tensor.default"(%count) {dtype = f64} : (index) -> tensor<f64>
// CHECK-NEXT: %parts, %parts_1 = gnn.global_call "aten.split.Tensor"(%mean, 2, 1) : (tensor<1x4xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
// CHECK-NEXT: %eye = gnn.global_call "aten.eye.default"(4) attributes {note} : () -> tensor<4x4xf32>
