// RUN: gnnc-opt %s --split-input-file -p gnn-accumulate-linear | filecheck %s

!n = tensor<?x8xf32, #gnn.on<nodes "n">>
!w = tensor<8x8xf32>
%x, %y, %w, %b, %c = "test.op"() : () -> (!n, !n, !w, tensor<8xf32>, tensor<?x1xf32, #gnn.on<nodes "n">>)

// A product that something is added to starts from that; how it reads its input stays.
// CHECK: %[[a:.*]] = gnn.linear %x, %w, %y primitive <csr crossover 0.25> : {{.*}}, tensor<8x8xf32>, tensor<?x8xf32, #gnn.on<nodes "n">>
%p = gnn.linear %x, %w primitive <csr crossover 0.25> : !n, !w -> !n
%a = gnn.add %p, %y : !n, !n -> !n

// Of two products the first may have a bias.
// CHECK-NEXT: %[[first:.*]] = gnn.linear %x, %w, %b
// CHECK-NEXT: %[[sum:.*]] = gnn.linear %y, %w, %[[first]]
%q = gnn.linear %x, %w, %b : !n, !w, tensor<8xf32> -> !n
%r = gnn.linear %y, %w : !n, !w -> !n
%d = gnn.add %r, %q : !n, !n -> !n

// Not if the product is needed, too, if it has a bias, or if it is added to itself or to what is no wider than a number.
// CHECK-NEXT: %[[s:.*]] = gnn.linear %x, %w :
// CHECK-NEXT: gnn.add %[[s]], %y
%s = gnn.linear %x, %w : !n, !w -> !n
%e = gnn.add %s, %y : !n, !n -> !n
// CHECK-NEXT: %[[biased:.*]] = gnn.linear %x, %w, %b
// CHECK-NEXT: gnn.add %[[biased]], %y
%t = gnn.linear %x, %w, %b : !n, !w, tensor<8xf32> -> !n
%f = gnn.add %t, %y : !n, !n -> !n
// CHECK-NEXT: %[[own:.*]] = gnn.linear %y, %w :
// CHECK-NEXT: gnn.add %[[own]], %[[own]]
%u = gnn.linear %y, %w : !n, !w -> !n
%g = gnn.add %u, %u : !n, !n -> !n
// CHECK-NEXT: %[[wide:.*]] = gnn.linear %y, %w :
// CHECK-NEXT: gnn.add %[[wide]], %c
%v = gnn.linear %y, %w : !n, !w -> !n
%h = gnn.add %v, %c : !n, tensor<?x1xf32, #gnn.on<nodes "n">> -> !n
"test.op"(%a, %d, %e, %s, %f, %g, %h) : (!n, !n, !n, !n, !n, !n, !n) -> ()

// -----

// A bias that is added last comes first, so that no pass over the rows is left for it.
!n = tensor<?x8xf32, #gnn.on<nodes "n">>
!w = tensor<8x8xf32>
gnn.weight @b : tensor<8xf32>
%x, %y, %z, %w = "test.op"() : () -> (!n, !n, !n, !w)
%p = gnn.linear %x, %w : !n, !w -> !n
%q = gnn.linear %y, %w : !n, !w -> !n
%r = gnn.linear %z, %w : !n, !w -> !n
%s = gnn.add %p, %q : !n, !n -> !n
%t = gnn.add %s, %r : !n, !n -> !n
%b = gnn.load_weight @b : tensor<8xf32>
%u = gnn.add %t, %b : !n, tensor<8xf32> -> !n
"test.op"(%u) : (!n) -> ()

// CHECK: %[[b:.*]] = gnn.load_weight @b
// CHECK-NEXT: %[[first:.*]] = gnn.linear %x, %w, %[[b]]
// CHECK-NEXT: %[[second:.*]] = gnn.linear %y, %w, %[[first]]
// CHECK-NEXT: %[[third:.*]] = gnn.linear %z, %w, %[[second]]
// CHECK: "test.op"(%[[third]])
