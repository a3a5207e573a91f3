// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
%tenth = gnn.constant 0.1 : f64 -> tensor<f64>
%third = gnn.constant 0.3333333333333333 : f64 -> tensor<f64>
%minus_third = gnn.constant -0.3333333333333333 : f64 -> tensor<f64>
%infinity = gnn.constant 0x7FF0000000000000 : f64 -> tensor<f64>
%minus_infinity = gnn.constant 0xFFF0000000000000 : f64 -> tensor<f64>
%nan = gnn.constant 0x7FF8000000000000 : f64 -> tensor<f64>
%minus_zero = gnn.constant -0.0 : f64 -> tensor<f64>
%largest = gnn.constant 1.7976931348623157e+308 : f64 -> tensor<f64>
%smallest = gnn.constant 5.0e-324 : f64 -> tensor<f64>
%many_digits = gnn.constant 1234567.0 : f64 -> tensor<f64>
%single = gnn.constant 0.1 : f32 -> tensor<f32>
%integer = gnn.constant -3 : i64 -> tensor<i64>
%flag = gnn.constant true -> tensor<i1>
%noted = gnn.constant 2 : i64 {note} -> tensor<i64>

// CHECK:      %eps = gnn.constant 1.000000e-16 : f64 -> tensor<f64>
// CHECK-NEXT: %tenth = gnn.constant 1.000000e-01 : f64 -> tensor<f64>
// CHECK-NEXT: %third = gnn.constant 0.33333333333333331 : f64 -> tensor<f64>
// CHECK-NEXT: %minus_third = gnn.constant -0.33333333333333331 : f64 -> tensor<f64>
// CHECK-NEXT: %infinity = gnn.constant 0x7ff0000000000000 : f64 -> tensor<f64>
// CHECK-NEXT: %minus_infinity = gnn.constant 0xfff0000000000000 : f64 -> tensor<f64>
// CHECK-NEXT: %nan = gnn.constant 0x7ff8000000000000 : f64 -> tensor<f64>
// CHECK-NEXT: %minus_zero = gnn.constant -0.000000e+00 : f64 -> tensor<f64>
// CHECK-NEXT: %largest = gnn.constant 1.7976931348623157e+308 : f64 -> tensor<f64>
// CHECK-NEXT: %smallest = gnn.constant 4.940660e-324 : f64 -> tensor<f64>
// CHECK-NEXT: %many_digits = gnn.constant 0x4132D68700000000 : f64 -> tensor<f64>
// CHECK-NEXT: %single = gnn.constant 1.000000e-01 : f32 -> tensor<f32>
// CHECK-NEXT: %integer = gnn.constant -3 : i64 -> tensor<i64>
// CHECK-NEXT: %flag = gnn.constant true -> tensor<i1>
// CHECK-NEXT: %noted = gnn.constant 2 : i64 {note} -> tensor<i64>
