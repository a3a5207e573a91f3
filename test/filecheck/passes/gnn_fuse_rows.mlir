// RUN: gnnc-opt %s --split-input-file -p gnn-fuse-rows | filecheck %s
// RUN: gnnc-opt %s --split-input-file -p gnn-fuse-rows,convert-gnn-to-loops | filecheck %s --check-prefix LOOPS

// An attention's projection: what lies between product and sum needs no memory, and every head is one number.
!n = tensor<?x32xf32, #gnn.on<nodes "n">>
!h = tensor<?x2x16xf32, #gnn.on<nodes "n">>
!s = tensor<?x2xf32, #gnn.on<nodes "n">>
func.func @structure() { func.return }
func.func @forward(%x: !n {gnn.name = "x"}, %att: tensor<1x2x16xf32>) -> !s {
  %r = gnn.conv_block layer 0 targets(%a = %x : !n) structure(%w = %att : tensor<1x2x16xf32>) -> (!s) {
    %v = gnn.reshape %a : !n -> !h
    %m = gnn.mul %v, %w : !h, tensor<1x2x16xf32> -> !h
    %s = gnn.rowwise "aten.sum.dim_IntList"(%m, [-1]) : (!h) -> !s
    gnn.yield %s : !s
  }
  func.return %r : !s
}
// CHECK: gnn.conv_block
// CHECK-NEXT: %[[s:.*]] = gnn.fused_rows(%a_1 = %a : {{.*}}, %w_1 = %w : tensor<1x2x16xf32>) -> (tensor<?x2xf32, #gnn.on<nodes "n">>) {
// CHECK-NEXT: gnn.reshape
// CHECK-NEXT: gnn.mul
// CHECK-NEXT: gnn.rowwise "aten.sum.dim_IntList"
// CHECK-NEXT: gnn.yield
// CHECK-NEXT: }
// CHECK-NEXT: gnn.yield %[[s]]

// LOOPS: gnn.fused_rows kernel @kernel_0(
// LOOPS: func.func @kernel_0(%[[BEGIN:\d+]]: index, %[[END:\d+]]: index, %[[X:\d+]]: memref<?x?xf32, strided<[?, 1]>>, %[[W:\d+]]: memref<?x?xf32, strided<[?, 1]>>, %[[Y:\d+]]: memref<?x?xf32, strided<[?, 1]>>)
// LOOPS: scf.for %[[ROW:\d+]] = %[[BEGIN]] to %[[END]]
// LOOPS: vector.load %[[X]][%[[ROW]]
// LOOPS: vector.reduction <add>
// LOOPS: memref.store {{.*}}, %[[Y]][%[[ROW]]
// LOOPS: vector.reduction <add>
// LOOPS: memref.store {{.*}}, %[[Y]][%[[ROW]]
// LOOPS: func.return

// -----

// Rows that are needed in another shape, too, are not copied.
!n = tensor<?x32xf32, #gnn.on<nodes "n">>
!h = tensor<?x2x16xf32, #gnn.on<nodes "n">>
!s = tensor<?x2xf32, #gnn.on<nodes "n">>
func.func @structure() { func.return }
func.func @forward(%x: !n {gnn.name = "x"}, %att: tensor<1x2x16xf32>) -> (!h, !s, !n) {
  %r, %q, %p = gnn.conv_block layer 0 targets(%a = %x : !n) structure(%w = %att : tensor<1x2x16xf32>) -> (!h, !s, !n) {
    %v = gnn.reshape %a : !n -> !h
    %m = gnn.mul %v, %w : !h, tensor<1x2x16xf32> -> !h
    %s = gnn.rowwise "aten.sum.dim_IntList"(%m, [-1]) : (!h) -> !s
    %f = gnn.reshape %m : !h -> !n
    gnn.yield %v, %s, %f : !h, !s, !n
  }
  func.return %r, %q, %p : !h, !s, !n
}
// CHECK: gnn.conv_block
// CHECK-NEXT: %[[v:.*]] = gnn.reshape %a
// CHECK-NEXT: %[[m:.*]], %[[s:.*]] = gnn.fused_rows(%v_1 = %[[v]]
// CHECK-NEXT: gnn.mul
// CHECK-NEXT: gnn.rowwise "aten.sum.dim_IntList"
// CHECK-NEXT: gnn.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[f:.*]] = gnn.reshape %[[m]]
// CHECK-NEXT: gnn.yield %[[v]], %[[s]], %[[f]]

// -----

// An operation alone stays, and so do products; work that a product lies between is in two loops.
!n = tensor<?x8xf32, #gnn.on<nodes "n">>
!w = tensor<8x8xf32>
func.func @structure() { func.return }
func.func @forward(%x: !n {gnn.name = "x"}, %y: !n {gnn.name = "y"}, %given: !w) -> !n {
  %r = gnn.conv_block layer 0 targets(%a = %x : !n, %b = %y : !n) structure(%w = %given : !w) -> (!n) {
    %r = gnn.relu %a : !n
    %p = gnn.linear %r, %w : !n, !w -> !n
    %s = gnn.add %p, %b : !n, !n -> !n
    %t = gnn.exp %s : !n
    %u = gnn.linear %t, %w : !n, !w -> !n
    %v = gnn.mul %u, %s : !n, !n -> !n
    %z = gnn.sub %v, %t : !n, !n -> !n
    gnn.yield %z : !n
  }
  func.return %r : !n
}
// CHECK: gnn.conv_block
// CHECK-NEXT: gnn.relu
// CHECK-NEXT: gnn.linear
// CHECK-NEXT: gnn.fused_rows
// CHECK-NEXT: gnn.add
// CHECK-NEXT: gnn.exp
// CHECK-NEXT: gnn.yield
// CHECK-NEXT: }
// CHECK-NEXT: gnn.linear
// CHECK-NEXT: gnn.fused_rows
// CHECK-NEXT: gnn.mul
// CHECK-NEXT: gnn.sub
// CHECK-NEXT: gnn.yield

// -----

// What only the loop needs comes with it; rows of edges are another loop.
!n = tensor<?x8xf32, #gnn.on<nodes "n">>
!m = tensor<?x8xf32, #gnn.on<edges "e">>
func.func @structure() { func.return }
func.func @forward(%x: !n {gnn.name = "x"}, %y: !m {gnn.name = "y"}) -> (!n, !m) {
  %r, %q = gnn.conv_block layer 0 targets(%a = %x : !n) edges(%b = %y : !m) -> (!n, !m) {
    %r = gnn.relu %a : !n
    %s = gnn.exp %a : !n
    %t = gnn.add %r, %s : !n, !n -> !n
    %u = gnn.relu %b : !m
    %v = gnn.exp %u : !m
    gnn.yield %t, %v : !n, !m
  }
  func.return %r, %q : !n, !m
}
// CHECK: gnn.fused_rows(%a_1 = %a
// CHECK-NEXT: gnn.relu
// CHECK-NEXT: gnn.exp
// CHECK-NEXT: gnn.add
// CHECK-NEXT: gnn.yield
// CHECK: gnn.fused_rows(%b_1 = %b
// CHECK-NEXT: gnn.relu
// CHECK-NEXT: gnn.exp
// CHECK-NEXT: gnn.yield
