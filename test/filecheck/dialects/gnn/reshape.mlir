// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
%x = "test.op"() : () -> tensor<?x16xf32, #n>
%y = gnn.reshape %x : tensor<?x16xf32, #n> -> tensor<?x2x8xf32, #n>
%z = gnn.reshape %x {note} : tensor<?x16xf32, #n> -> tensor<1x?x16xf32, #n>

// CHECK:      %x = "test.op"() : () -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %y = gnn.reshape %x : tensor<?x16xf32, #gnn.on<nodes "n">> -> tensor<?x2x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %z = gnn.reshape %x {note} : tensor<?x16xf32, #gnn.on<nodes "n">> -> tensor<1x?x16xf32, #gnn.on<nodes "n">>
