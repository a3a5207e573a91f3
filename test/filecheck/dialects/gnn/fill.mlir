// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%ones = gnn.fill 1.0 : f64 -> tensor<?xf32, #gnn.on<edges "cites">>
%twos = gnn.fill 2 : i64 -> tensor<3x?xi64, #gnn.on<nodes "paper">>
%half = gnn.fill 0.5 : f64 {note = "half"} -> tensor<?x1xf32, #gnn.on<nodes "paper">>

// CHECK:      %ones = gnn.fill 1.000000e+00 : f64 -> tensor<?xf32, #gnn.on<edges "cites">>
// CHECK-NEXT: %twos = gnn.fill 2 : i64 -> tensor<3x?xi64, #gnn.on<nodes "paper">>
// CHECK-NEXT: %half = gnn.fill 5.000000e-01 : f64 {note = "half"} -> tensor<?x1xf32, #gnn.on<nodes "paper">>
