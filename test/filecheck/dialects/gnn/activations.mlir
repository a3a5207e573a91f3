// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

!t = tensor<?x4xf32, #gnn.on<nodes "n">>
%x = "test.op"() : () -> !t
%relu = gnn.relu %x : !t
%sigmoid = gnn.sigmoid %x : !t
%tanh = gnn.tanh %x : !t
%exp = gnn.exp %x : !t
%leaky_relu = gnn.leaky_relu %x slope 0.2 : !t
%elu = gnn.elu %x alpha 1.0 : !t
%noted_relu = gnn.relu %x {note} : !t
%noted_sigmoid = gnn.sigmoid %x {note} : !t
%noted_tanh = gnn.tanh %x {note} : !t
%noted_exp = gnn.exp %x {note} : !t
%noted_leaky_relu = gnn.leaky_relu %x slope -0.2 {note} : !t
%noted_elu = gnn.elu %x alpha 0.5 {note} : !t

// CHECK:      %x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %relu = gnn.relu %x : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %sigmoid = gnn.sigmoid %x : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %tanh = gnn.tanh %x : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %exp = gnn.exp %x : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %leaky_relu = gnn.leaky_relu %x slope 2.000000e-01 : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %elu = gnn.elu %x alpha 1.000000e+00 : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_relu = gnn.relu %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_sigmoid = gnn.sigmoid %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_tanh = gnn.tanh %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_exp = gnn.exp %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_leaky_relu = gnn.leaky_relu %x slope -2.000000e-01 {note} : tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_elu = gnn.elu %x alpha 5.000000e-01 {note} : tensor<?x4xf32, #gnn.on<nodes "n">>
