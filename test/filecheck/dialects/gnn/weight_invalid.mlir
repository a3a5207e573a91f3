// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

gnn.weight @w : tensor<?x8xf32>
// CHECK: a weight has a static shape and no domain

// -----

gnn.weight @w : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: a weight has a static shape and no domain

// -----

%w = gnn.load_weight @w : tensor<8xf32>
// CHECK: no gnn.weight declares @w

// -----

func.func private @w()
%w = gnn.load_weight @w : tensor<8xf32>
// CHECK: no gnn.weight declares @w

// -----

gnn.weight @w : tensor<8xf32>
%w = gnn.load_weight @w : tensor<4xf32>
// CHECK: @w is declared as tensor<8xf32> and loaded as tensor<4xf32>
