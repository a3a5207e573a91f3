// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.relu %x : tensor<8xf32>
// CHECK: a row-wise operation needs a value on a domain

// -----

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.sigmoid %x : tensor<8xf32>
// CHECK: a row-wise operation needs a value on a domain

// -----

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.tanh %x : tensor<8xf32>
// CHECK: a row-wise operation needs a value on a domain

// -----

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.exp %x : tensor<8xf32>
// CHECK: a row-wise operation needs a value on a domain

// -----

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.leaky_relu %x slope 0.2 : tensor<8xf32>
// CHECK: a row-wise operation needs a value on a domain

// -----

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.elu %x alpha 1.0 : tensor<8xf32>
// CHECK: a row-wise operation needs a value on a domain
