// RUN: gnnc-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

"test.op"() {a = #kernel.activation<gelu>} : () -> ()
// CHECK: an epilogue has no gelu, only relu, leaky_relu, elu, sigmoid, tanh

// -----

"test.op"() {a = #kernel.scheme<n1 24 n2 16 grid 1x1 inner [1]>} : () -> ()
// CHECK: N1 is a multiple of N2, 24 is none of 16
