// RUN: gnnc-opt %s | filecheck %s
// RUN: gnnc-opt %s | gnnc-opt | filecheck %s
// RUN: gnnc-opt %s --print-op-generic | gnnc-opt | filecheck %s

!e = !gnn.edges<"e", "m" -> "n">
!loops = !gnn.edges<"l", "n" -> "n">
%e, %l, %v, %d, %s = "test.op"() : () -> (!e, !loops, tensor<?xf32, #gnn.on<edges "l">>, tensor<1xf32>, tensor<f64>)

%a = kernel.adjacency mean at target of %e : !e -> !kernel.adjacency<"n" x "m">
// CHECK: %a = kernel.adjacency mean at target of %e : !gnn.edges<"e", "m" -> "n"> -> !kernel.adjacency<"n" x "m">

%b = kernel.adjacency at source of %e : !e -> !kernel.adjacency<"m" x "n">
// CHECK: %b = kernel.adjacency at source of %e : !gnn.edges<"e", "m" -> "n"> -> !kernel.adjacency<"m" x "n">

%c = kernel.adjacency at target of %l values %v scaled %s diagonal %d : !loops values tensor<?xf32, #gnn.on<edges "l">> scaled tensor<f64> diagonal tensor<1xf32> -> !kernel.adjacency<"n" x "n">
// CHECK: %c = kernel.adjacency at target of %l values %v scaled %s diagonal %d : !gnn.edges<"l", "n" -> "n"> values tensor<?xf32, #gnn.on<edges "l">> scaled tensor<f64> diagonal tensor<1xf32> -> !kernel.adjacency<"n" x "n">
