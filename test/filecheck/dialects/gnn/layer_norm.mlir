// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

!t = tensor<?x2x8xf32, #gnn.on<nodes "n">>
%x, %scale, %shift = "test.op"() : () -> (!t, tensor<8xf32>, tensor<8xf32>)
%y = gnn.layer_norm %x affine %scale, %shift axes 1 eps 1.0e-05 : !t affine tensor<8xf32>, tensor<8xf32>
%s = gnn.layer_norm %x affine %scale axes 1 eps 1.0e-05 : !t affine tensor<8xf32>
%z = gnn.layer_norm %x axes 2 eps 0.001 : !t
%noted = gnn.layer_norm %x axes 2 eps 0.001 {note} : !t

// CHECK:      %x, %scale, %shift = "test.op"() : () -> (tensor<?x2x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %y = gnn.layer_norm %x affine %scale, %shift axes 1 eps 1.000000e-05 : tensor<?x2x8xf32, #gnn.on<nodes "n">> affine tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: %s = gnn.layer_norm %x affine %scale axes 1 eps 1.000000e-05 : tensor<?x2x8xf32, #gnn.on<nodes "n">> affine tensor<8xf32>
// CHECK-NEXT: %z = gnn.layer_norm %x axes 2 eps 1.000000e-03 : tensor<?x2x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted = gnn.layer_norm %x axes 2 eps 1.000000e-03 {note} : tensor<?x2x8xf32, #gnn.on<nodes "n">>
