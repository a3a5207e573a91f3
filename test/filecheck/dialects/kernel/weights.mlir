// RUN: gnnc-opt %s | filecheck %s
// RUN: gnnc-opt %s | gnnc-opt | filecheck %s
// RUN: gnnc-opt %s --print-op-generic | gnnc-opt | filecheck %s

%w, %g, %n = "test.op"() : () -> (tensor<16x8xf32>, tensor<16xf32>, tensor<1xf32>)

%t = kernel.transpose %w : tensor<16x8xf32> -> tensor<8x16xf32>
// CHECK: %t = kernel.transpose %w : tensor<16x8xf32> -> tensor<8x16xf32>

%r = kernel.rows %t from 2 : tensor<8x16xf32> -> tensor<6x16xf32>
// CHECK: %r = kernel.rows %t from 2 : tensor<8x16xf32> -> tensor<6x16xf32>

%s = kernel.norm_scale %g eps 1.0e-05 : tensor<16xf32> -> tensor<16xf32>
// CHECK: %s = kernel.norm_scale %g eps 1.000000e-05 : tensor<16xf32> -> tensor<16xf32>

%q = kernel.norm_scale %g scale %s eps 1.0e-05 : tensor<16xf32> scale tensor<16xf32> -> tensor<16xf32>
// CHECK: %q = kernel.norm_scale %g scale %s eps 1.000000e-05 : tensor<16xf32> scale tensor<16xf32> -> tensor<16xf32>

%m = kernel.scale %r, %q : tensor<6x16xf32>, tensor<16xf32> -> tensor<6x16xf32>
// CHECK: %m = kernel.scale %r, %q : tensor<6x16xf32>, tensor<16xf32> -> tensor<6x16xf32>

%k = kernel.scale %m, %n : tensor<6x16xf32>, tensor<1xf32> -> tensor<6x16xf32>
// CHECK: %k = kernel.scale %m, %n : tensor<6x16xf32>, tensor<1xf32> -> tensor<6x16xf32>

%a = kernel.add %g, %s : tensor<16xf32>, tensor<16xf32> -> tensor<16xf32>
// CHECK: %a = kernel.add %g, %s : tensor<16xf32>, tensor<16xf32> -> tensor<16xf32>

%b = kernel.sub %a, %g : tensor<16xf32>, tensor<16xf32> -> tensor<16xf32>
// CHECK: %b = kernel.sub %a, %g : tensor<16xf32>, tensor<16xf32> -> tensor<16xf32>
