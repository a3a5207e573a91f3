// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.rowwise "clamp"(%x) : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: only operators of the aten namespace can be called, not "clamp"

// -----

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.rowwise "aten.neg.default"(%x) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: a row-wise operation needs a value on a domain

// -----

%x, %y = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "m">>)
%z = gnn.rowwise "aten.add.Tensor"(%x, %y) : (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "m">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: a row-wise operation stays on one domain, this one mixes nodes "m", nodes "n"

// -----

// Only the generic form can name the wrong operands.
%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = "gnn.rowwise"(%x) <{op = "aten.neg.default", arguments = [#gnn.operand<1>], keywords = {}}> : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the arguments must name operands 0 to 0 in order, they name [1]

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = "gnn.rowwise"(%x, %x) <{op = "aten.add.Tensor", arguments = [[#gnn.operand<1>], #gnn.operand<0>], keywords = {}}> : (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the arguments must name operands 0 to 1 in order, they name [1, 0]

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = "gnn.rowwise"(%x) <{op = "aten.neg.default", arguments = [], keywords = {}}> : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the arguments must name operands 0 to 0 in order, they name []
