// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

!n = tensor<?x8xf32, #gnn.on<nodes "n">>
!s = tensor<?x8xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
!v = tensor<8xf32>
%x, %s, %e, %v = "test.op"() : () -> (!n, !s, !e, !v)
%third = gnn.elu %x alpha 0.3333333333333333 : !n
%infinity = gnn.elu %x alpha 0x7FF0000000000000 : !n
%minus_infinity = gnn.elu %x alpha 0xFFF0000000000000 : !n
%nan = gnn.elu %x alpha 0x7FF8000000000000 : !n
%many_digits = gnn.elu %x alpha 1234567.0 : !n
%tenth_slope = gnn.leaky_relu %x slope 0.1 : !n
%minus_infinite_slope = gnn.leaky_relu %x slope 0xFFF0000000000000 : !n
%eps = gnn.edge_softmax %s at target of %e eps 1.0e-16 : !s, !e
%infinite_eps = gnn.edge_softmax %s at target of %e eps 0x7FF0000000000000 layer 1 conv 0 {note} : !s, !e
%third_eps = gnn.batch_norm %x, %v, %v eps 0.3333333333333333 : !n, !v, !v
%infinite_eps2 = gnn.batch_norm %x, %v, %v eps 0x7FF0000000000000 : !n, !v, !v
%layer_eps = gnn.layer_norm %x axes 1 eps 0.3333333333333333 : !n
%layer_infinite_eps = gnn.layer_norm %x axes 1 eps 0x7FF0000000000000 : !n
%fill = gnn.fill 0.3333333333333333 : f64 -> !n
%fill_infinity = gnn.fill 0xFFF0000000000000 : f64 -> !n
%call = gnn.rowwise "aten.nan_to_num.default"(%x, 0.3333333333333333, 0x7FF0000000000000 : f64, 0xFFF0000000000000 : f64) {eps = 1.0e-16 : f64, low = 0xFFF0000000000000 : f64} : (!n) -> !n

// CHECK:      %x, %s, %e, %v = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">, tensor<8xf32>)
// CHECK-NEXT: %third = gnn.elu %x alpha 0.33333333333333331 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %infinity = gnn.elu %x alpha 0x7ff0000000000000 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %minus_infinity = gnn.elu %x alpha 0xfff0000000000000 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %nan = gnn.elu %x alpha 0x7ff8000000000000 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %many_digits = gnn.elu %x alpha 0x4132D68700000000 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %tenth_slope = gnn.leaky_relu %x slope 1.000000e-01 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %minus_infinite_slope = gnn.leaky_relu %x slope 0xfff0000000000000 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %eps = gnn.edge_softmax %s at target of %e eps 1.000000e-16 : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %infinite_eps = gnn.edge_softmax %s at target of %e eps 0x7ff0000000000000 layer 1 conv 0 {note} : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %third_eps = gnn.batch_norm %x, %v, %v eps 0.33333333333333331 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: %infinite_eps2 = gnn.batch_norm %x, %v, %v eps 0x7ff0000000000000 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: %layer_eps = gnn.layer_norm %x axes 1 eps 0.33333333333333331 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %layer_infinite_eps = gnn.layer_norm %x axes 1 eps 0x7ff0000000000000 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %fill = gnn.fill 0.33333333333333331 : f64 -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %fill_infinity = gnn.fill 0xfff0000000000000 : f64 -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %call = gnn.rowwise "aten.nan_to_num.default"(%x, 0.33333333333333331 : f64, 0x7ff0000000000000 : f64, 0xfff0000000000000 : f64) {eps = 1.000000e-16 : f64, low = 0xfff0000000000000 : f64} : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
