// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
"gnn.fused_conv"(%x) ({
  gnn.yield
}) : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> ()
// CHECK: the arguments of the body must have the types of the operands, in order

// -----

%e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
gnn.fused_conv(%b = %e : !gnn.edges<"e", "n" -> "n">) -> () {
  "test.termop"() : () -> ()
}
// CHECK: the body must end in gnn.yield

// -----

%x, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">)
%y = gnn.fused_conv(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>, %b = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
  gnn.yield
}
// CHECK: gnn.yield must give values of the types of the results

// -----

%x, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">)
%y = gnn.fused_conv(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>, %b = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
  gnn.yield %a : tensor<?x8xf32, #gnn.on<nodes "n">>
}
// CHECK: the body must aggregate over one edge set

// -----

!nodes = tensor<?x8xf32, #gnn.on<nodes "n">>
!edges = tensor<?x8xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
%x, %e = "test.op"() : () -> (!nodes, !set)
%y, %z = gnn.fused_conv(%a = %x : !nodes, %b = %e : !set) -> (!nodes, !nodes) {
  %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
  %s = gnn.aggregate sum %m at target of %b : !edges, !set -> !nodes
  %t = gnn.aggregate sum %m at source of %b : !edges, !set -> !nodes
  gnn.yield %s, %t : !nodes, !nodes
}
// CHECK: the body must reduce at one end of the edges

// -----

!nodes = tensor<?x8xf32, #gnn.on<nodes "n">>
!edges = tensor<?x8xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
%x, %e = "test.op"() : () -> (!nodes, !set)
%y = gnn.fused_conv(%a = %x : !nodes, %b = %e : !set) -> (!nodes) {
  %r = gnn.relu %a : !nodes
  %m = gnn.gather %r at source of %b : !nodes, !set -> !edges
  %s = gnn.aggregate sum %m at target of %b : !edges, !set -> !nodes
  gnn.yield %s : !nodes
}
// CHECK: the body may gather only what comes from outside
