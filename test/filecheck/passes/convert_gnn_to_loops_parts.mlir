// RUN: gnnc-opt %s -p 'gnn-fuse-conv,convert-gnn-to-loops{parts=true}' | filecheck %s

// A Conv in parts, for neighbors that aren't in memory at one time: sums go on from where they are, and the mean and what
// follows from it are computed once all edges have been added. Sums of pieces of a row that threads share are merged.
!nodes = tensor<?x16xf32, #gnn.on<nodes "n">>
!edges = tensor<?x16xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
func.func @structure() { func.return }
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !set) -> !nodes {
  // CHECK: gnn.fused_conv kernel @kernel_0(
  %h = gnn.conv_block layer 1 neighbors(%a = %x : !nodes) structure(%b = %e : !set) -> (!nodes) {
    %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
    %y = gnn.aggregate mean %m at target of %b layer 1 conv 0 : !edges, !set -> !nodes
    %r = gnn.relu %y : !nodes
    gnn.yield %r : !nodes
  }
  func.return %h : !nodes
}
// CHECK: func.func @kernel_0(
// CHECK: func.func @kernel_0_add_up(%{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<?xi64>, %{{.*}}: memref<?xi32>, %[[X:\d+]]: memref<?x?xf32, strided<[?, 1]>>, %[[SUMS:\d+]]: memref<?x?xf32, strided<[?, 1]>>)
// CHECK: scf.if
// CHECK: %[[START:\d+]] = vector.load %[[SUMS]]
// CHECK: %[[TOTAL:\d+]] = scf.for {{.*}} iter_args({{.*}} = %[[START]])
// CHECK: vector.load %[[X]]
// CHECK: vector.store %[[TOTAL]], %[[SUMS]]
// CHECK-NOT: arith.divf
// CHECK: func.func @kernel_0_merge(%{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<?xi64>, %{{.*}}: memref<?xi32>, %[[PIECES:\d+]]: memref<?x?xf32, strided<[?, 1]>>, %[[MERGED:\d+]]: memref<?x?xf32, strided<[?, 1]>>)
// CHECK: %[[FIRST:\d+]] = vector.load %[[MERGED]]
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[FIRST]])
// CHECK: vector.load %[[PIECES]]
// CHECK: arith.addf
// CHECK: vector.store {{.*}}, %[[MERGED]]
// CHECK: func.func @kernel_0_finish(%{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<?xi64>, %{{.*}}: memref<?xi32>, %[[TOTALS:\d+]]: memref<?x?xf32, strided<[?, 1]>>, %[[Y:\d+]]: memref<?x?xf32, strided<[?, 1]>>)
// CHECK: vector.load %[[TOTALS]]
// CHECK: arith.divf
// CHECK: arith.maximumf
// CHECK: vector.store {{.*}}, %[[Y]]
