// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines

// No generic round trip: xDSL prints the name as "gr\C3\B6\C3\9Fe" there and reads that as bytes.
gnn.weight @"größe" : tensor<f32>
%w = gnn.load_weight @"größe" : tensor<f32>

// CHECK:      gnn.weight @"gr\C3\B6\C3\9Fe" : tensor<f32>
// CHECK-NEXT: %w = gnn.load_weight @"gr\C3\B6\C3\9Fe" : tensor<f32>
