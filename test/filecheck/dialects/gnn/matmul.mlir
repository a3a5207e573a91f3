// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
%x, %w, %stack = "test.op"() : () -> (tensor<?x8xf32, #n>, tensor<8x16xf32>, tensor<3x8x16xf32>)
%y = gnn.matmul %x, %w : tensor<?x8xf32, #n>, tensor<8x16xf32> -> tensor<?x16xf32, #n>
%z = gnn.matmul %x, %stack : tensor<?x8xf32, #n>, tensor<3x8x16xf32> -> tensor<3x?x16xf32, #n>
%noted = gnn.matmul %x, %w {note} : tensor<?x8xf32, #n>, tensor<8x16xf32> -> tensor<?x16xf32, #n>
%a = gnn.matmul %x, %w densities [#gnn.density<?>, #gnn.density<128/128>] : tensor<?x8xf32, #n>, tensor<8x16xf32> -> tensor<?x16xf32, #n>

// CHECK:      %x, %w, %stack = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x16xf32>, tensor<3x8x16xf32>)
// CHECK-NEXT: %y = gnn.matmul %x, %w : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %z = gnn.matmul %x, %stack : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<3x8x16xf32> -> tensor<3x?x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted = gnn.matmul %x, %w {note} : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %a = gnn.matmul %x, %w densities [#gnn.density<?>, #gnn.density<128/128>] : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
