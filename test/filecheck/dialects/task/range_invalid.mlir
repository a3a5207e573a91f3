// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

!n4 = tensor<?x4xf32, #gnn.on<nodes "n">>
%x, %w = "test.op"() : () -> (!n4, tensor<4x4xf32>)
%u = task.range "product" first 0 nodes 40 fusion 1 %x times %w layer 1 scheme <n1 32 n2 16 grid 3x1 inner [1]> : !n4 times tensor<4x4xf32> -> !n4
// CHECK: a range is of an "aggregate" or an "update", not of "product"

// -----

!n4 = tensor<?x4xf32, #gnn.on<nodes "n">>
%x, %w = "test.op"() : () -> (!n4, tensor<4x4xf32>)
%u = task.range "update" first 0 nodes 40 fusion 1 %x times %w layer 1 : !n4 times tensor<4x4xf32> -> !n4
// CHECK: a range has the scheme of its kernel: run kernel-partition first

// -----

!n4 = tensor<?x4xf32, #gnn.on<nodes "n">>
%x, %w = "test.op"() : () -> (!n4, tensor<4x4xf32>)
%u = task.range "update" first 0 nodes 40 fusion 0 %x times %w layer 1 scheme <n1 32 n2 16 grid 3x1 inner [1]> : !n4 times tensor<4x4xf32> -> !n4
// CHECK: a range needs a node, a column tile a task, and a first task from 0 on

// -----

!n4 = tensor<?x4xf32, #gnn.on<nodes "n">>
%x, %w = "test.op"() : () -> (!n4, tensor<4x4xf32>)
%u = task.range "aggregate" first 0 nodes 40 fusion 1 %x times %w layer 1 scheme <n1 32 n2 16 grid 3x1 inner [1]> : !n4 times tensor<4x4xf32> -> !n4
// CHECK: an aggregation's left side must be an adjacency with a row a node of the result

// -----

!n4 = tensor<?x4xf32, #gnn.on<nodes "n">>
%x, %w = "test.op"() : () -> (!n4, tensor<4x4xf32>)
%u = task.range "update" first 0 nodes 41 fusion 1 %x times %w layer 1 scheme <n1 16 n2 8 grid 5x1 inner [1]> : !n4 times tensor<4x4xf32> -> !n4
// CHECK: 41 nodes make a grid of 6x1 and inner lengths of [1]
