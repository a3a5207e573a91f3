// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
%x, %y, %s = "test.op"() : () -> (tensor<?x4xf32, #n>, tensor<?x1xf32, #n>, tensor<f64>)
%add = gnn.add %x, %y : tensor<?x4xf32, #n>, tensor<?x1xf32, #n> -> tensor<?x4xf32, #n>
%sub = gnn.sub %s, %x : tensor<f64>, tensor<?x4xf32, #n> -> tensor<?x4xf32, #n>
%mul = gnn.mul %x, %s : tensor<?x4xf32, #n>, tensor<f64> -> tensor<?x4xf32, #n>
%div = gnn.div %x, %x : tensor<?x4xf32, #n>, tensor<?x4xf32, #n> -> tensor<?x4xf32, #n>
%noted_add = gnn.add %x, %x {note} : tensor<?x4xf32, #n>, tensor<?x4xf32, #n> -> tensor<?x4xf32, #n>
%noted_sub = gnn.sub %x, %x {note} : tensor<?x4xf32, #n>, tensor<?x4xf32, #n> -> tensor<?x4xf32, #n>
%noted_mul = gnn.mul %x, %x {note} : tensor<?x4xf32, #n>, tensor<?x4xf32, #n> -> tensor<?x4xf32, #n>
%noted_div = gnn.div %x, %x {note} : tensor<?x4xf32, #n>, tensor<?x4xf32, #n> -> tensor<?x4xf32, #n>

// CHECK:      %x, %y, %s = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<nodes "n">>, tensor<f64>)
// CHECK-NEXT: %add = gnn.add %x, %y : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %sub = gnn.sub %s, %x : tensor<f64>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %mul = gnn.mul %x, %s : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<f64> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %div = gnn.div %x, %x : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_add = gnn.add %x, %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_sub = gnn.sub %x, %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_mul = gnn.mul %x, %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %noted_div = gnn.div %x, %x {note} : tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
