// RUN: gnnc-opt %s -p gnn-inline-conv-blocks | filecheck %s

// Blocks are dissolved; splitting @forward again, by another price, is in gnn_split_conv_blocks_cost.mlir.
!nodes = tensor<?x16xf32, #gnn.on<nodes "n">>
!edges = tensor<?x16xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
func.func @structure() { func.return }
// CHECK-LABEL: func.func @forward(
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !set) -> (!nodes, !nodes) {
  // CHECK-NEXT: %[[R:.+]] = gnn.relu %x
  // CHECK-NEXT: %[[T:.+]] = gnn.sigmoid %[[R]]
  // CHECK-NEXT: %[[M:.+]] = gnn.gather %[[R]] at source of %e
  // CHECK-NEXT: %[[S:.+]] = gnn.aggregate sum %[[M]] at target of %e layer 1 conv 0
  // CHECK-NEXT: func.return %[[T]], %[[S]]
  %r, %t = gnn.conv_block layer 0 targets(%a = %x : !nodes) -> (!nodes, !nodes) {
    %r = gnn.relu %a : !nodes
    %t = gnn.sigmoid %r : !nodes
    gnn.yield %r, %t : !nodes, !nodes
  }
  %h = gnn.conv_block layer 1 neighbors(%a = %r : !nodes) structure(%b = %e : !set) -> (!nodes) {
    %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
    %y = gnn.aggregate sum %m at target of %b layer 1 conv 0 : !edges, !set -> !nodes
    gnn.yield %y : !nodes
  }
  func.return %t, %h : !nodes, !nodes
}
