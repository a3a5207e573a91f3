// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%w = "test.op"() : () -> (tensor<16x8xf32>)
%t = kernel.transpose %w : tensor<16x8xf32> -> tensor<16x8xf32>
// CHECK: a transpose exchanges the two axes of a matrix

// -----

%w = "test.op"() : () -> (tensor<16x8xf32>)
%t = kernel.rows %w from 12 : tensor<16x8xf32> -> tensor<6x8xf32>
// CHECK: rows 12 to 18 are not all in 16x8

// -----

%v = "test.op"() : () -> (tensor<16xf32>)
%t = kernel.norm_scale %v eps 1.0e-05 : tensor<16xf32> -> tensor<8xf32>
// CHECK: variance, scale and result are vectors of one length

// -----

%w, %v = "test.op"() : () -> (tensor<16x8xf32>, tensor<16xf32>)
%t = kernel.scale %w, %v : tensor<16x8xf32>, tensor<16xf32> -> tensor<16x8xf32>
// CHECK: 16 doesn't meet the columns of 16x8
