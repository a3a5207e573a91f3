// RUN: gnnc-opt %s | gnnc-opt | filecheck %s
// RUN: gnnc-opt %s --print-op-generic | gnnc-opt | filecheck %s

!nodes = tensor<?x8xf32, #gnn.on<nodes "n">>
!edges = tensor<?x8xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
%x, %e = "test.op"() : () -> (!nodes, !set)

// CHECK: %y = gnn.fused_conv(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>, %b = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
// CHECK-NEXT: %m = gnn.gather %a at source of %b
// CHECK-NEXT: %s = gnn.aggregate max %m at target of %b
// CHECK-NEXT: gnn.yield %s
// CHECK-NEXT: }
%y = gnn.fused_conv(%a = %x : !nodes, %b = %e : !set) -> (!nodes) {
  %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
  %s = gnn.aggregate max %m at target of %b : !edges, !set -> !nodes
  gnn.yield %s : !nodes
}

// CHECK: %z = gnn.fused_conv kernel @sum(%a = %x
// CHECK-SAME: attributes {note = "kept"}
%z = gnn.fused_conv kernel @sum(%a = %x : !nodes, %b = %e : !set) -> (!nodes) attributes {note = "kept"} {
  %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
  %s = gnn.aggregate sum %m at target of %b : !edges, !set -> !nodes
  gnn.yield %s : !nodes
}
