// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%i = "test.op"() : () -> tensor<2x?xi64, #gnn.on<edges "f">>
%e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "f">> -> !gnn.edges<"e", "n" -> "n">
// CHECK: the index tensor must be on edges "e", it is on edges "f"

// -----

%i = "test.op"() : () -> tensor<2x4xi64>
%e = gnn.relation %i : tensor<2x4xi64> -> !gnn.edges<"e", "n" -> "n">
// CHECK: the index tensor must be on edges "e", it is on no domain

// -----

%i = "test.op"() : () -> tensor<?x2xi64, #gnn.on<edges "e">>
%e = gnn.relation %i : tensor<?x2xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK: the index tensor must be of shape 2x?
