// RUN: gnnc-opt %s -p gnn-fuse-conv,convert-gnn-to-loops | filecheck %s

// Rows of 500 numbers are 31 vectors and 4 numbers more: three tiles of eight vectors are a loop, the last one has what
// remains.
!nodes = tensor<?x500xf32, #gnn.on<nodes "n">>
!edges = tensor<?x500xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
func.func @structure() { func.return }
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !set) -> !nodes {
  %h = gnn.conv_block layer 1 neighbors(%a = %x : !nodes) structure(%b = %e : !set) -> (!nodes) {
    %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
    %y = gnn.aggregate sum %m at target of %b layer 1 conv 0 : !edges, !set -> !nodes
    gnn.yield %y : !nodes
  }
  func.return %h : !nodes
}
// CHECK: func.func @kernel_0(%[[BEGIN:\d+]]: index, %[[END:\d+]]: index, %{{\d+}}: memref<?xi64>, %{{\d+}}: memref<?xi32>, %[[X:\d+]]: memref<?x?xf32, strided<[?, 1]>>, %[[Y:\d+]]: memref<?x?xf32, strided<[?, 1]>>)
// CHECK-DAG: %[[LANES:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[TILES:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[ROW:\d+]] = %[[BEGIN]] to %[[END]]
// CHECK: scf.for %[[TILE:\d+]] = %{{.*}} to %[[TILES]]
// CHECK: scf.for
// CHECK: %[[COLUMN:\d+]] = arith.muli %[[TILE]], %[[LANES]] : index
// CHECK: vector.load %[[X]][%{{\d+}}, %[[COLUMN]]]
// CHECK: arith.muli %[[TILE]], %[[LANES]] : index
// CHECK: vector.store %{{\d+}}, %[[Y]][%[[ROW]], %{{\d+}}]
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK: vector.load %[[X]]
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.maskedstore %[[Y]]
// CHECK: func.return
