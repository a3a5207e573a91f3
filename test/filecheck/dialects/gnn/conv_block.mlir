// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
#e = #gnn.on<edges "e">
!x = tensor<?x8xf32, #n>
!m = tensor<?x8xf32, #e>
!e = !gnn.edges<"e", "n" -> "n">
%x, %z, %norm, %edges = "test.op"() : () -> (!x, !x, tensor<?x1xf32, #e>, !e)
%h = gnn.conv_block layer 1 neighbors(%a = %x : !x) structure(%e = %edges : !e) -> (!x) {
  %m = gnn.gather %a at source of %e : !x, !e -> !m
  %y = gnn.aggregate sum %m at target of %e layer 1 conv 0 : !m, !e -> !x
  gnn.yield %y : !x
}
%two:2 = gnn.conv_block layer 2 neighbors(%a2 = %h : !x) targets(%b2 = %x : !x, %c2 = %z : !x) structure(%e2 = %edges : !e, %n2 = %norm : tensor<?x1xf32, #e>) -> (!x, !x) attributes {note} {
  gnn.yield {note} %b2, %c2 : !x, !x
}
%targets_only = gnn.conv_block layer 0 targets(%b3 = %x : !x) -> (!x) {
  gnn.yield %b3 : !x
}
%empty_groups = gnn.conv_block layer 0 neighbors() targets(%b4 = %x : !x) structure() -> (!x) {
  gnn.yield %b4 : !x
}
gnn.conv_block layer 3 -> () {
  gnn.yield
}
%state, %mean = "test.op"() : () -> (!m, tensor<8xf32>)
%new, %total = gnn.conv_block layer 4 neighbors(%a5 = %h : !x) targets(%b5 = %z : !x) edges(%s5 = %state : !m) structure(%e5 = %edges : !e, %g5 = %mean : tensor<8xf32>) -> (!m, tensor<8xf32>) {
  %t5 = gnn.global_reduce sum "aten.sum.dim_IntList"(%s5, [0]) : (!m) -> tensor<8xf32>
  gnn.yield %s5, %t5 : !m, tensor<8xf32>
}
%edges_only = gnn.conv_block layer 0 edges(%s6 = %state : !m) -> (!m) {
  gnn.yield %s6 : !m
}

// CHECK:      %x, %z, %norm, %edges = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">)
// CHECK-NEXT: %h = gnn.conv_block layer 1 neighbors(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) structure(%e = %edges : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
// CHECK-NEXT:   %m = gnn.gather %a at source of %e : tensor<?x8xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x8xf32, #gnn.on<edges "e">>
// CHECK-NEXT:   %y = gnn.aggregate sum %m at target of %e layer 1 conv 0 : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT:   gnn.yield %y : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: }
// CHECK-NEXT: %two, %two_1 = gnn.conv_block layer 2 neighbors(%a2 = %h : tensor<?x8xf32, #gnn.on<nodes "n">>) targets(%b2 = %x : tensor<?x8xf32, #gnn.on<nodes "n">>, %c2 = %z : tensor<?x8xf32, #gnn.on<nodes "n">>) structure(%e2 = %edges : !gnn.edges<"e", "n" -> "n">, %n2 = %norm : tensor<?x1xf32, #gnn.on<edges "e">>) -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>) attributes {note} {
// CHECK-NEXT:   gnn.yield {note} %b2, %c2 : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: }
// CHECK-NEXT: %targets_only = gnn.conv_block layer 0 targets(%b3 = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
// CHECK-NEXT:   gnn.yield %b3 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: }
// CHECK-NEXT: %empty_groups = gnn.conv_block layer 0 targets(%b4 = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
// CHECK-NEXT:   gnn.yield %b4 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: }
// CHECK-NEXT: gnn.conv_block layer 3 -> () {
// CHECK-NEXT:   gnn.yield
// CHECK-NEXT: }
// CHECK-NEXT: %state, %mean = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<edges "e">>, tensor<8xf32>)
// CHECK-NEXT: %new, %total = gnn.conv_block layer 4 neighbors(%a5 = %h : tensor<?x8xf32, #gnn.on<nodes "n">>) targets(%b5 = %z : tensor<?x8xf32, #gnn.on<nodes "n">>) edges(%s5 = %state : tensor<?x8xf32, #gnn.on<edges "e">>) structure(%e5 = %edges : !gnn.edges<"e", "n" -> "n">, %g5 = %mean : tensor<8xf32>) -> (tensor<?x8xf32, #gnn.on<edges "e">>, tensor<8xf32>) {
// CHECK-NEXT:   %t5 = gnn.global_reduce sum "aten.sum.dim_IntList"(%s5, [0]) : (tensor<?x8xf32, #gnn.on<edges "e">>) -> tensor<8xf32>
// CHECK-NEXT:   gnn.yield %s5, %t5 : tensor<?x8xf32, #gnn.on<edges "e">>, tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %edges_only = gnn.conv_block layer 0 edges(%s6 = %state : tensor<?x8xf32, #gnn.on<edges "e">>) -> (tensor<?x8xf32, #gnn.on<edges "e">>) {
// CHECK-NEXT:   gnn.yield %s6 : tensor<?x8xf32, #gnn.on<edges "e">>
// CHECK-NEXT: }
