// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.add %x, %x : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
// CHECK: a row-wise operation needs a value on a domain

// -----

%x, %y = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "m">>)
%z = gnn.sub %x, %y : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "m">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: a row-wise operation stays on one domain, this one mixes nodes "m", nodes "n"

// -----

%x, %y = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<edges "n">>)
%z = gnn.sub %x, %y : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<edges "n">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: a row-wise operation stays on one domain, this one mixes edges "n", nodes "n"

// -----

%x, %y = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<4xf32>)
%z = gnn.mul %x, %y : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<4xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: shapes ?x8 and 4 don't broadcast

// -----

%x, %y = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>)
%z = gnn.div %x, %y : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32> -> tensor<?x1xf32, #gnn.on<nodes "n">>
// CHECK: the operands broadcast to ?x8, not to ?x1

// -----

%x = "test.op"() : () -> tensor<8xf32>
%y = gnn.add %x, %x : tensor<8xf32>, tensor<8xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: the operands broadcast to 8, not to ?x8
