// RUN: gnnc-opt %s --split-input-file --parsing-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
%y = gnn.global_reduce average "aten.sum.default"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<f32>
// CHECK: Expected `sum`, `mean`, `max`, `min`, or `mul`.
