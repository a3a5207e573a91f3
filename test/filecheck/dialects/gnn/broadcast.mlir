// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
%x = "test.op"() : () -> tensor<?x1xf32, #n>
%y = gnn.broadcast %x : tensor<?x1xf32, #n> -> tensor<?x16xf32, #n>
%z = gnn.broadcast %x {note} : tensor<?x1xf32, #n> -> tensor<2x?x16xf32, #n>

// CHECK:      %x = "test.op"() : () -> tensor<?x1xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %y = gnn.broadcast %x : tensor<?x1xf32, #gnn.on<nodes "n">> -> tensor<?x16xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %z = gnn.broadcast %x {note} : tensor<?x1xf32, #gnn.on<nodes "n">> -> tensor<2x?x16xf32, #gnn.on<nodes "n">>
