// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
#e = #gnn.on<edges "e">
!e = !gnn.edges<"e", "n" -> "n">
%m, %d, %w, %u, %b, %e = "test.op"() : () -> (tensor<?x8xf32, #e>, index, tensor<16x8xf32>, tensor<16x4xf32>, tensor<16xf32>, !e)
%x, %y = "test.op"() : () -> (tensor<12x8xf32>, tensor<12x4xf32>)
%p = gnn.aggregate_recurrent lstm layers 1 biases %m steps %d weights %w, %u, %b, %b at target of %e : tensor<?x8xf32, #e>, !e weights tensor<16x8xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32> -> tensor<?x4xf32, #n>
%q = gnn.aggregate_recurrent gru layers 1 bidirectional %m steps %d weights %x, %y, %x, %y at source of %e layer 1 conv 0 {note} : tensor<?x8xf32, #e>, !e weights tensor<12x8xf32>, tensor<12x4xf32>, tensor<12x8xf32>, tensor<12x4xf32> -> tensor<?x8xf32, #n>

// CHECK:      %m, %d, %w, %u, %b, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<edges "e">>, index, tensor<16x8xf32>, tensor<16x4xf32>, tensor<16xf32>, !gnn.edges<"e", "n" -> "n">)
// CHECK-NEXT: %x, %y = "test.op"() : () -> (tensor<12x8xf32>, tensor<12x4xf32>)
// CHECK-NEXT: %p = gnn.aggregate_recurrent lstm layers 1 biases %m steps %d weights %w, %u, %b, %b at target of %e : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> weights tensor<16x8xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %q = gnn.aggregate_recurrent gru layers 1 bidirectional %m steps %d weights %x, %y, %x, %y at source of %e layer 1 conv 0 {note} : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> weights tensor<12x8xf32>, tensor<12x4xf32>, tensor<12x8xf32>, tensor<12x4xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
