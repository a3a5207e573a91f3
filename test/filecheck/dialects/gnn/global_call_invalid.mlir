// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
%y = gnn.global_call "aten.sum.default"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<f32>
// CHECK: a global call takes and gives values without rows

// -----

%n = "test.op"() : () -> index
%y = gnn.global_call "aten.ones.default"([%n, 4]) : (index) -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK: a global call takes and gives values without rows

// -----

%x = "test.op"() : () -> tensor<4xf32>
%y = gnn.global_call "torch.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: only operators of the aten namespace can be called, not "torch.neg"

// -----

%x = "test.op"() : () -> tensor<4xf32>
%y = "gnn.global_call"(%x) <{op = "aten.neg.default", arguments = [], keywords = {}}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: the arguments must name operands 0 to 0 in order, they name []
