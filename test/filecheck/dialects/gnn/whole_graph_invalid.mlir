// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.whole_graph "torch.neg"(%x) : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: only operators of the aten namespace can be called, not "torch.neg"

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = "gnn.whole_graph"(%x) <{op = "aten.neg.default", arguments = [], keywords = {}}> : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the arguments must name operands 0 to 0 in order, they name []

// -----

%x = "test.op"() : () -> tensor<?xf32>
%y = gnn.whole_graph "aten.neg.default"(%x) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK: operand 0 has an unknown size but no #gnn.on encoding that names its domain
