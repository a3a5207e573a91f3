// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.cast %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<?x4xbf16, #gnn.on<nodes "n">>
// CHECK: a cast changes the type of the numbers alone

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.cast %x : tensor<?x8xf32, #gnn.on<nodes "n">> -> tensor<8x8xbf16>
// CHECK: a cast changes the type of the numbers alone
