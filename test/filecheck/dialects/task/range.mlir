// RUN: gnnc-opt %s | filecheck %s
// RUN: gnnc-opt %s | gnnc-opt | filecheck %s
// RUN: gnnc-opt %s --print-op-generic | gnnc-opt | filecheck %s

!a = !kernel.adjacency<"n" x "n">
!n4 = tensor<?x4xf32, #gnn.on<nodes "n">>
%a, %x, %w = "test.op"() : () -> (!a, tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x4xf32>)

%u = task.range "update" first 0 nodes 40 fusion 1 %x times %w layer 1 scheme <n1 32 n2 16 grid 3x1 inner [1]> : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> -> !n4
// CHECK: %u = task.range "update" first 0 nodes 40 fusion 1 %x times %w layer 1 scheme <n1 32 n2 16 grid 3x1 inner [1]> : tensor<?x8xf32, #gnn.on<nodes "n">> times tensor<8x4xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>

task.barrier
// CHECK: task.barrier

%z = task.range "aggregate" first 3 nodes 40 fusion 1 %a times %u activation <relu> layer 1 scheme <n1 32 n2 16 grid 2x1 inner [2]> : !a times !n4 -> !n4
// CHECK: %z = task.range "aggregate" first 3 nodes 40 fusion 1 %a times %u activation <relu> layer 1 scheme <n1 32 n2 16 grid 2x1 inner [2]>
