// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
%y = gnn.global_reduce sum "aten.sum.dim_IntList"(%x, [1]) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<?xf32, #gnn.on<nodes "n">>
// CHECK: a global reduction has one result, without rows

// -----

%x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
%y, %z = "gnn.global_reduce"(%x) <{op = "aten.max.dim", arguments = [#gnn.operand<0>, 0], keywords = {}, reduction = #gnn<reduction max>}> : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> (tensor<4xf32>, tensor<4xi64>)
// CHECK: a global reduction has one result, without rows

// -----

// The mean of means is no mean.
%x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
%y = gnn.global_reduce mean "aten.mean.dim"(%x, [0]) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<4xf32>
// CHECK: partial results are combined by sum, mul, max or min, not mean

// -----

%x = "test.op"() : () -> tensor<4xf32>
%y = gnn.global_reduce sum "aten.sum.default"(%x) : (tensor<4xf32>) -> tensor<f32>
// CHECK: the operands must be on one domain

// -----

%x, %m = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<4x?xf32, #gnn.on<edges "e">>)
%y = gnn.global_reduce sum "aten.matmul.default"(%m, %x) : (tensor<4x?xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<4x4xf32>
// CHECK: the operands must be on one domain

// -----

%x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
%y = gnn.global_reduce sum "sum"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> tensor<f32>
// CHECK: only operators of the aten namespace can be called, not "sum"
