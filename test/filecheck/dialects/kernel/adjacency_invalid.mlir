// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%e = "test.op"() : () -> (!gnn.edges<"e", "m" -> "n">)
%a = kernel.adjacency at target of %e : !gnn.edges<"e", "m" -> "n"> -> !kernel.adjacency<"m" x "n">
// CHECK: the matrix must be of type !kernel.adjacency<"n" x "m">

// -----

%e, %v = "test.op"() : () -> (!gnn.edges<"e", "n" -> "n">, tensor<?x2xf32, #gnn.on<edges "e">>)
%a = kernel.adjacency at target of %e values %v : !gnn.edges<"e", "n" -> "n"> values tensor<?x2xf32, #gnn.on<edges "e">> -> !kernel.adjacency<"n" x "n">
// CHECK: the values must be one number an edge

// -----

%e, %v = "test.op"() : () -> (!gnn.edges<"e", "n" -> "n">, tensor<2xf32>)
%a = kernel.adjacency at target of %e scaled %v : !gnn.edges<"e", "n" -> "n"> scaled tensor<2xf32> -> !kernel.adjacency<"n" x "n">
// CHECK: scale and diagonal are single numbers

// -----

%e, %v = "test.op"() : () -> (!gnn.edges<"e", "m" -> "n">, tensor<1xf32>)
%a = kernel.adjacency at target of %e diagonal %v : !gnn.edges<"e", "m" -> "n"> diagonal tensor<1xf32> -> !kernel.adjacency<"n" x "m">
// CHECK: a diagonal needs one node set at both ends
