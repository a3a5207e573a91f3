// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%s, %t = "test.op"() : () -> (tensor<?xi64, #gnn.on<nodes "n">>, tensor<?xi64, #gnn.on<edges "e">>)
%e = gnn.edge_set %s, %t : tensor<?xi64, #gnn.on<nodes "n">>, tensor<?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK: the sources must be on edges "e", it is on nodes "n"

// -----

%s, %t = "test.op"() : () -> (tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<nodes "n">>)
%e = gnn.edge_set %s, %t : tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<nodes "n">> -> !gnn.edges<"e", "n" -> "n">
// CHECK: the targets must be on edges "e", it is on nodes "n"

// -----

%s, %t = "test.op"() : () -> (tensor<2x?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>)
%e = gnn.edge_set %s, %t : tensor<2x?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK: the sources must be a one-dimensional tensor on a domain

// -----

%s, %t = "test.op"() : () -> (tensor<?xi64, #gnn.on<edges "e">>, tensor<2x?xi64, #gnn.on<edges "e">>)
%e = gnn.edge_set %s, %t : tensor<?xi64, #gnn.on<edges "e">>, tensor<2x?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "n" -> "n">
// CHECK: the targets must be a one-dimensional tensor on a domain
