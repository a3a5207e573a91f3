// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
#e = #gnn.on<edges "e">
!e = !gnn.edges<"e", "n" -> "n">
%m, %h, %q, %e = "test.op"() : () -> (tensor<?x4xf32, #e>, tensor<2x?x4xf32, #e>, tensor<3x1xf32>, !e)
%one = "test.op"() : () -> tensor<1x1xf32>
%a = gnn.aggregate_quantile %m, %one lower fill 0.0 at target of %e : tensor<?x4xf32, #e>, tensor<1x1xf32>, !e -> tensor<?x4xf32, #n>
%b = gnn.aggregate_quantile %m, %q linear fill -1.5 at source of %e layer 1 conv 0 sample <fanout 2 seed 0> {note} : tensor<?x4xf32, #e>, tensor<3x1xf32>, !e -> tensor<?x12xf32, #n>
%c = gnn.aggregate_quantile %h, %q nearest fill 0x7FF8000000000000 at target of %e : tensor<2x?x4xf32, #e>, tensor<3x1xf32>, !e -> tensor<2x?x12xf32, #n>

// CHECK:      %m, %h, %q, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<2x?x4xf32, #gnn.on<edges "e">>, tensor<3x1xf32>, !gnn.edges<"e", "n" -> "n">)
// CHECK-NEXT: %one = "test.op"() : () -> tensor<1x1xf32>
// CHECK-NEXT: %a = gnn.aggregate_quantile %m, %one lower fill 0.000000e+00 at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<1x1xf32>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %b = gnn.aggregate_quantile %m, %q linear fill -1.500000e+00 at source of %e layer 1 conv 0 sample <fanout 2 seed 0> {note} : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<3x1xf32>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x12xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %c = gnn.aggregate_quantile %h, %q nearest fill 0x7ff8000000000000 at target of %e : tensor<2x?x4xf32, #gnn.on<edges "e">>, tensor<3x1xf32>, !gnn.edges<"e", "n" -> "n"> -> tensor<2x?x12xf32, #gnn.on<nodes "n">>
