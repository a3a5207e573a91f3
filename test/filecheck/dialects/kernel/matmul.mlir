// RUN: gnnc-opt %s | filecheck %s
// RUN: gnnc-opt %s | gnnc-opt | filecheck %s
// RUN: gnnc-opt %s --print-op-generic | gnnc-opt | filecheck %s

!a = !kernel.adjacency<"n" x "n">
!n4 = tensor<?x4xf32, #gnn.on<nodes "n">>
!n8 = tensor<?x8xf32, #gnn.on<nodes "n">>
%a, %x, %y, %w, %v, %s, %b = "test.op"() : () -> (!a, !n8, !n4, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)

%u = kernel.update %x times %w layer 1 : !n8 times tensor<8x4xf32> -> !n4
// CHECK: %u = kernel.update %x times %w layer 1 : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>

%z = kernel.aggregate %a times %u plus %y scale %s bias %b activation <relu> then plus %y layer 2 densities [#gnn.density<3/100>, #gnn.density<?>] scheme <n1 64 n2 16 grid 2x1 inner [2]> : !a times !n4 plus !n4 scale tensor<4xf32> bias tensor<4xf32> then plus !n4 -> !n4
// CHECK: %z = kernel.aggregate %a times %u plus %y scale %s bias %b activation <relu> then plus %y layer 2 densities [#gnn.density<3/100>, #gnn.density<?>] scheme <n1 64 n2 16 grid 2x1 inner [2]> : !kernel.adjacency<"n" x "n"> times tensor<?x4xf32, #gnn.on<nodes "n">> plus tensor<?x4xf32, #gnn.on<nodes "n">> scale tensor<4xf32> bias tensor<4xf32> then plus tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>

%q = kernel.update %x, %z times %w, %v activation <leaky_relu 0.2> layer 2 scheme <n1 32 n2 16 grid 2x1 inner [1, 1]> : !n8, !n4 times tensor<8x4xf32>, tensor<4x4xf32> -> !n4
// CHECK: %q = kernel.update %x, %z times %w, %v activation <leaky_relu 0.2> layer 2 scheme <n1 32 n2 16 grid 2x1 inner [1, 1]>
