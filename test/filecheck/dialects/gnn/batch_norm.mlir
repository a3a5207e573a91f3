// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

!t = tensor<?x8xf32, #gnn.on<nodes "n">>
!v = tensor<8xf32>
%x, %mean, %var, %scale, %shift = "test.op"() : () -> (!t, !v, !v, !v, !v)
%y = gnn.batch_norm %x, %mean, %var affine %scale, %shift eps 1.0e-05 : !t, !v, !v affine !v, !v
%z = gnn.batch_norm %x, %mean, %var eps 0.001 : !t, !v, !v
%noted = gnn.batch_norm %x, %mean, %var eps 0.001 {note} : !t, !v, !v

// CHECK:      %x, %mean, %var, %scale, %shift = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %y = gnn.batch_norm %x, %mean, %var affine %scale, %shift eps 1.000000e-05 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32> affine tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: %z = gnn.batch_norm %x, %mean, %var eps 1.000000e-03 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: %noted = gnn.batch_norm %x, %mean, %var eps 1.000000e-03 {note} : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32>
