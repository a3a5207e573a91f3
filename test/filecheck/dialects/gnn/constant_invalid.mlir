// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%c = gnn.constant 1.0 : f64 -> tensor<f32>
// CHECK: the result must be tensor<f64>

// -----

%c = gnn.constant 1 : i64 -> tensor<1xi64>
// CHECK: the result must be tensor<i64>
