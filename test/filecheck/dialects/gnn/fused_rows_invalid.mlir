// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

%x, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<edges "e">>)
%y, %z = gnn.fused_rows(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>, %b = %e : tensor<?x8xf32, #gnn.on<edges "e">>) -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<edges "e">>) {
  %r = gnn.relu %a : tensor<?x8xf32, #gnn.on<nodes "n">>
  %s = gnn.relu %b : tensor<?x8xf32, #gnn.on<edges "e">>
  gnn.yield %r, %s : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<edges "e">>
}
// CHECK: the body must work on the rows of one set

// -----

!nodes = tensor<?x8xf32, #gnn.on<nodes "n">>
!edges = tensor<?x8xf32, #gnn.on<edges "e">>
!set = !gnn.edges<"e", "n" -> "n">
%x, %e = "test.op"() : () -> (!nodes, !set)
%y = gnn.fused_rows(%a = %x : !nodes, %b = %e : !set) -> (!edges) {
  %m = gnn.gather %a at source of %b : !nodes, !set -> !edges
  gnn.yield %m : !edges
}
// CHECK: the body must work on the rows of one set

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.fused_rows(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
  gnn.yield
}
// CHECK: gnn.yield must give values of the types of the results
