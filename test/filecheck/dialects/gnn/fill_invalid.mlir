// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%c = gnn.fill 1.0 : f64 -> tensor<4xf32>
// CHECK: the result must be on a domain, use gnn.constant for a single number
