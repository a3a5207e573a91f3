// RUN: gnnc-opt %s | gnnc-opt | filecheck %s
// RUN: gnnc-opt %s --print-op-generic | gnnc-opt | filecheck %s

!nodes = tensor<?x8xf32, #gnn.on<nodes "n">>
%x, %w = "test.op"() : () -> (!nodes, tensor<8xf32>)

// CHECK: %y = gnn.fused_rows(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>, %b = %w : tensor<8xf32>) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
// CHECK-NEXT: %m = gnn.mul %a, %b
// CHECK-NEXT: %r = gnn.relu %m
// CHECK-NEXT: gnn.yield %r
// CHECK-NEXT: }
%y = gnn.fused_rows(%a = %x : !nodes, %b = %w : tensor<8xf32>) -> (!nodes) {
  %m = gnn.mul %a, %b : !nodes, tensor<8xf32> -> !nodes
  %r = gnn.relu %m : !nodes
  gnn.yield %r : !nodes
}

// CHECK: %z = gnn.fused_rows kernel @rows(%a = %x
// CHECK-SAME: attributes {note = "kept"}
%z = gnn.fused_rows kernel @rows(%a = %x : !nodes) -> (!nodes) attributes {note = "kept"} {
  %r = gnn.relu %a : !nodes
  gnn.yield %r : !nodes
}
