// RUN: gnnc-opt %s -p gnn-fuse-conv,convert-gnn-to-loops | filecheck %s
// RUN: gnnc-opt %s -p gnn-fuse-conv,convert-gnn-to-loops | gnnc-opt | filecheck %s

// Sum of the neighbours' rows and relu: a loop over rows, one over edges with two vectors of sums in registers, rows
// that come 64 edges later on their way into the cache.
!nodes = tensor<?x32xf32, #gnn.on<nodes "n">>
!edges = tensor<?x32xf32, #gnn.on<edges "e">>
!norm = tensor<?xf32, #gnn.on<nodes "n">>
!norm_e = tensor<?xf32, #gnn.on<edges "e">>
!norm_c = tensor<?x1xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
func.func @structure() { func.return }
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !set) -> !nodes {
  // CHECK: gnn.fused_conv kernel @kernel_0(
  %h = gnn.conv_block layer 1 neighbors(%a = %x : !nodes) structure(%b = %e : !set) -> (!nodes) {
    %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
    %y = gnn.aggregate sum %m at target of %b layer 1 conv 0 : !edges, !set -> !nodes
    %r = gnn.relu %y : !nodes
    gnn.yield %r : !nodes
  }
  func.return %h : !nodes
}
// CHECK: func.func @kernel_0(%[[BEGIN:\d+]]: index, %[[END:\d+]]: index, %[[OFFSETS:\d+]]: memref<?xi64>, %[[NEIGHBORS:\d+]]: memref<?xi32>, %[[X:\d+]]: memref<?x?xf32, strided<[?, 1]>>, %[[Y:\d+]]: memref<?x?xf32, strided<[?, 1]>>) attributes {llvm.emit_c_interface} {
// CHECK: scf.for %[[ROW:\d+]] = %[[BEGIN]] to %[[END]]
// CHECK: memref.load %[[OFFSETS]][%[[ROW]]]
// CHECK: scf.for %[[EDGE:\d+]] = {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>) {
// CHECK: memref.load %[[NEIGHBORS]][%[[EDGE]]]
// CHECK: vector.load %[[X]]
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.load %[[X]]
// CHECK: %[[LINE:\d+]] = llvm.inttoptr
// CHECK: llvm.call_intrinsic "llvm.prefetch.p0"(%[[LINE]],
// CHECK: %[[NEXT:\d+]] = llvm.getelementptr %[[LINE]][16]
// CHECK: llvm.call_intrinsic "llvm.prefetch.p0"(%[[NEXT]],
// CHECK: scf.yield
// CHECK: arith.maximumf
// CHECK: vector.store {{.*}}, %[[Y]][%[[ROW]]
// CHECK: arith.maximumf
// CHECK: vector.store {{.*}}, %[[Y]][%[[ROW]]
// CHECK: func.return
