// RUN: gnnc-opt %s -p gnn-fuse-conv | filecheck %s

// A GCN layer: what is on edges, the sum, bias and activation become one operation; the linear layer stays outside. The
// body is in the order in which results need it.
!nodes = tensor<?x32xf32, #gnn.on<nodes "n">>
!edges = tensor<?x32xf32, #gnn.on<edges "e">>
!norm = tensor<?xf32, #gnn.on<nodes "n">>
!norm_e = tensor<?xf32, #gnn.on<edges "e">>
!norm_c = tensor<?x1xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
func.func @structure() { func.return }
gnn.weight @bias : tensor<32xf32>
gnn.weight @weight : tensor<32x32xf32>
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !set, %d: !norm) -> (!nodes) {
  // CHECK: gnn.conv_block
  // CHECK-NEXT: %bias = gnn.load_weight @bias
  // CHECK-NEXT: gnn.load_weight @weight
  // CHECK-NEXT: %r = gnn.fused_conv(%n_1 = %n : {{.*}}, %b_1 = %b : {{.*}}, %a_1 = %a :
  // CHECK-NEXT: gnn.gather %n_1 at source
  // CHECK-NEXT: gnn.gather %n_1 at target
  // CHECK-NEXT: gnn.mul
  // CHECK-NEXT: gnn.reshape
  // CHECK-NEXT: gnn.gather %a_1 at source
  // CHECK-NEXT: gnn.mul
  // CHECK-NEXT: gnn.aggregate sum
  // CHECK-NEXT: gnn.add
  // CHECK-NEXT: gnn.relu
  // CHECK-NEXT: gnn.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: gnn.linear %r
  // CHECK-NEXT: gnn.yield
  %h = gnn.conv_block layer 1 neighbors(%a = %x : !nodes) structure(%b = %e : !set, %n = %d : !norm) -> (!nodes) {
    %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
    %s = gnn.gather %n at source of %b : !norm, !set -> !norm_e
    %t = gnn.gather %n at target of %b : !norm, !set -> !norm_e
    %st = gnn.mul %s, %t : !norm_e, !norm_e -> !norm_e
    %c = gnn.reshape %st : !norm_e -> !norm_c
    %w = gnn.mul %c, %m : !norm_c, !edges -> !edges
    %y = gnn.aggregate sum %w at target of %b layer 1 conv 0 : !edges, !set -> !nodes
    %bias = gnn.load_weight @bias : tensor<32xf32>
    %z = gnn.add %y, %bias : !nodes, tensor<32xf32> -> !nodes
    %r = gnn.relu %z : !nodes
    %weight = gnn.load_weight @weight : tensor<32x32xf32>
    %l = gnn.linear %r, %weight : !nodes, tensor<32x32xf32> -> !nodes
    gnn.yield %l : !nodes
  }
  // Reductions that don't need each other share a loop; one that needs another's result has its own.
  // CHECK: gnn.conv_block
  // CHECK: gnn.fused_conv(
  // CHECK-NEXT: gnn.gather
  // CHECK-NEXT: gnn.aggregate mean
  // CHECK-NEXT: gnn.aggregate max
  // CHECK-NEXT: gnn.add
  // CHECK-NEXT: gnn.yield
  // CHECK: gnn.fused_conv(
  // CHECK: gnn.gather %{{.*}} at source
  // CHECK: gnn.gather %{{.*}} at target
  // CHECK: gnn.sub
  // CHECK: gnn.aggregate sum
  %g, %g2 = gnn.conv_block layer 2 neighbors(%a = %h : !nodes) structure(%b = %e : !set) -> (!nodes, !nodes) {
    %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
    %p = gnn.aggregate mean %m at target of %b layer 2 conv 1 : !edges, !set -> !nodes
    %q = gnn.aggregate max %m at target of %b layer 2 conv 1 : !edges, !set -> !nodes
    %u = gnn.add %p, %q : !nodes, !nodes -> !nodes
    %v = gnn.gather %u at target of %b : !nodes, !set -> !edges
    %w = gnn.sub %m, %v : !edges, !edges -> !edges
    %y = gnn.aggregate sum %w at target of %b layer 2 conv 1 : !edges, !set -> !nodes
    gnn.yield %u, %y : !nodes, !nodes
  }
  func.return %h : !nodes
}
