// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.cast %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x8xbf16, #gnn.on<nodes "n">>
%z = gnn.cast %y {note} : tensor<?x8xbf16, #gnn.on<nodes "n">> -> tensor<?x8xf64, #gnn.on<nodes "n">>

// CHECK:      %y = gnn.cast %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x8xbf16, #gnn.on<nodes "n">>
// CHECK-NEXT: %z = gnn.cast %y {note} : tensor<?x8xbf16, #gnn.on<nodes "n">> -> tensor<?x8xf64, #gnn.on<nodes "n">>
