// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
#e = #gnn.on<edges "e">
%x, %m, %t = "test.op"() : () -> (tensor<?x4xf32, #n>, tensor<?x2xf32, #e>, tensor<4x?xf32, #n>)
%sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%x, [0], true) : (tensor<?x4xf32, #n>) -> tensor<1x4xf32>
%mul = gnn.global_reduce mul "aten.prod.default"(%x) {dtype = f32} : (tensor<?x4xf32, #n>) -> tensor<f32>
%max = gnn.global_reduce max "aten.amax.default"(%m, [0, 1]) : (tensor<?x2xf32, #e>) -> tensor<f32>
%min = gnn.global_reduce min "aten.amin.default"(%x, [0]) attributes {note} : (tensor<?x4xf32, #n>) -> tensor<4xf32>
%gram = gnn.global_reduce sum "aten.matmul.default"(%t, %x) : (tensor<4x?xf32, #n>, tensor<?x4xf32, #n>) -> tensor<4x4xf32>

// CHECK:      %x, %m, %t = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x2xf32, #gnn.on<edges "e">>, tensor<4x?xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT: %sum = gnn.global_reduce sum "aten.sum.dim_IntList"(%x, [0], true) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<1x4xf32>
// CHECK-NEXT: %mul = gnn.global_reduce mul "aten.prod.default"(%x) {dtype = f32} : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<f32>
// CHECK-NEXT: %max = gnn.global_reduce max "aten.amax.default"(%m, [0, 1]) : (tensor<?x2xf32, #gnn.on<edges "e">>) -> tensor<f32>
// CHECK-NEXT: %min = gnn.global_reduce min "aten.amin.default"(%x, [0]) attributes {note} : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<4xf32>
// CHECK-NEXT: %gram = gnn.global_reduce sum "aten.matmul.default"(%t, %x) : (tensor<4x?xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<4x4xf32>
