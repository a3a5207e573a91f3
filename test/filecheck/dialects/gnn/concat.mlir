// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
%a, %b = "test.op"() : () -> (tensor<?x8xf32, #n>, tensor<?x1xf32, #n>)
%one = gnn.concat %a axis 1 : tensor<?x8xf32, #n> -> tensor<?x8xf32, #n>
%two = gnn.concat %a, %b axis 1 : tensor<?x8xf32, #n>, tensor<?x1xf32, #n> -> tensor<?x9xf32, #n>
%noted = gnn.concat %a, %b, %b axis 1 {note} : tensor<?x8xf32, #n>, tensor<?x1xf32, #n>, tensor<?x1xf32, #n> -> tensor<?x10xf32, #n>

// CHECK:      %a, %b = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT: %one = gnn.concat %a axis 1 : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %two = gnn.concat %a, %b axis 1 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<nodes "n">> -> tensor<?x9xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted = gnn.concat %a, %b, %b axis 1 {note} : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<nodes "n">> -> tensor<?x10xf32, #gnn.on<nodes "n">>
