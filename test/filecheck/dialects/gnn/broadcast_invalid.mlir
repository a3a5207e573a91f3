// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.broadcast %x : tensor<8xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the operand must be on the domain

// -----

%x = "test.op"() : () -> tensor<?x2xf32, #gnn.on<nodes "n">>
%y = gnn.broadcast %x : tensor<?x2xf32, #gnn.on<nodes "n">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: shapes ?x2 and ?x8 don't broadcast

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.broadcast %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x1xf32, #gnn.on<nodes "n">>
// CHECK: the operand doesn't broadcast to the result

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.broadcast %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<1x8xf32>
// CHECK: the operand doesn't broadcast to the result
