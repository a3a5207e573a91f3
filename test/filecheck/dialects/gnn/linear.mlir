// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
%x, %w, %b = "test.op"() : () -> (tensor<?x2x8xf32, #n>, tensor<16x8xf32>, tensor<16xf32>)
%y = gnn.linear %x, %w, %b : tensor<?x2x8xf32, #n>, tensor<16x8xf32>, tensor<16xf32> -> tensor<?x2x16xf32, #n>
%z = gnn.linear %x, %w : tensor<?x2x8xf32, #n>, tensor<16x8xf32> -> tensor<?x2x16xf32, #n>
%noted = gnn.linear %x, %w {note} : tensor<?x2x8xf32, #n>, tensor<16x8xf32> -> tensor<?x2x16xf32, #n>
%sum = gnn.linear %x, %w, %y : tensor<?x2x8xf32, #n>, tensor<16x8xf32>, tensor<?x2x16xf32, #n> -> tensor<?x2x16xf32, #n>
%a = gnn.linear %x, %w densities [#gnn.density<1/4>, #gnn.density<?>] primitive <dense crossover 0.125> : tensor<?x2x8xf32, #n>, tensor<16x8xf32> -> tensor<?x2x16xf32, #n>

// CHECK:      %x, %w, %b = "test.op"() : () -> (tensor<?x2x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>, tensor<16xf32>)
// CHECK-NEXT: %y = gnn.linear %x, %w, %b : tensor<?x2x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>, tensor<16xf32> -> tensor<?x2x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %z = gnn.linear %x, %w : tensor<?x2x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32> -> tensor<?x2x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted = gnn.linear %x, %w {note} : tensor<?x2x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32> -> tensor<?x2x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %sum = gnn.linear %x, %w, %y : tensor<?x2x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>, tensor<?x2x16xf32, #gnn.on<nodes "n">> -> tensor<?x2x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %a = gnn.linear %x, %w densities [#gnn.density<1/4>, #gnn.density<?>] primitive <dense crossover 0.125> : tensor<?x2x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32> -> tensor<?x2x16xf32, #gnn.on<nodes "n">>
