// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

gnn.weight @conv1.lin.weight : tensor<16x1433xf32>
gnn.weight @"a \"quoted\" name" : tensor<f32> {trained}
%w = gnn.load_weight @conv1.lin.weight : tensor<16x1433xf32>
%q = gnn.load_weight @"a \"quoted\" name" : tensor<f32> {used = 1 : i64}

// CHECK:      gnn.weight @conv1.lin.weight : tensor<16x1433xf32>
// CHECK-NEXT: gnn.weight @"a \22quoted\22 name" : tensor<f32> {trained}
// CHECK-NEXT: %w = gnn.load_weight @conv1.lin.weight : tensor<16x1433xf32>
// CHECK-NEXT: %q = gnn.load_weight @"a \22quoted\22 name" : tensor<f32> {used = 1 : i64}
