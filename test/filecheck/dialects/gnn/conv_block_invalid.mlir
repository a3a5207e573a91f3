// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

// Only the generic form can have other arguments than operands.
%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
"gnn.conv_block"(%x) <{layer = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> ({
  gnn.yield
}) : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> ()
// CHECK: the arguments of the body must have the types of the operands, in order

// -----

%x, %e = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">)
"gnn.conv_block"(%x, %e) <{layer = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 1>}> ({
^bb0(%b0: !gnn.edges<"e", "n" -> "n">, %b1: tensor<?x8xf32, #gnn.on<nodes "n">>):
  gnn.yield
}) : (tensor<?x8xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">) -> ()
// CHECK: the arguments of the body must have the types of the operands, in order

// -----

%x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<edges "e">>
gnn.conv_block layer 1 neighbors(%a = %x : tensor<?x4xf32, #gnn.on<edges "e">>) -> () {
  gnn.yield
}
// CHECK: what is loaded for neighbors or targets must be on a node domain

// -----

%x = "test.op"() : () -> tensor<8xf32>
gnn.conv_block layer 1 targets(%a = %x : tensor<8xf32>) -> () {
  gnn.yield
}
// CHECK: what is loaded for neighbors or targets must be on a node domain

// -----

%e = "test.op"() : () -> !gnn.edges<"e", "n" -> "n">
gnn.conv_block layer 1 targets(%a = %e : !gnn.edges<"e", "n" -> "n">) -> () {
  gnn.yield
}
// CHECK: what is loaded for neighbors or targets must be on a node domain

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
gnn.conv_block layer 1 targets(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> () {
  "test.termop"() : () -> ()
}
// CHECK: the body must end in gnn.yield

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.conv_block layer 1 targets(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
  gnn.yield
}
// CHECK: gnn.yield must give values of the types of the results

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.conv_block layer 1 targets(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> (tensor<?x8xf32, #gnn.on<nodes "m">>) {
  gnn.yield %a : tensor<?x8xf32, #gnn.on<nodes "n">>
}
// CHECK: gnn.yield must give values of the types of the results

// -----

// What the body uses comes in through the arguments.
%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.conv_block layer 1 -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
  gnn.yield %x : tensor<?x8xf32, #gnn.on<nodes "n">>
}
// CHECK: Operation using value defined out of its IsolatedFromAbove parent: {{.*}}

// -----

gnn.conv_block layer 1 -> () {
}
// CHECK: Operation gnn.conv_block contains empty block in single-block region that expects at least a terminator

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
gnn.yield %x : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: 'gnn.yield' expects parent op to be one of 'gnn.conv_block', 'gnn.fused_conv', 'gnn.fused_rows'

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
gnn.conv_block layer 1 edges(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> () {
  gnn.yield
}
// CHECK: what is loaded for edges must be on an edge domain

// -----

%x = "test.op"() : () -> tensor<8xf32>
gnn.conv_block layer 1 edges(%a = %x : tensor<8xf32>) -> () {
  gnn.yield
}
// CHECK: what is loaded for edges must be on an edge domain

// -----

%s = "test.op"() : () -> tensor<8xf32>
%y = gnn.conv_block layer 1 structure(%a = %s : tensor<8xf32>) -> (tensor<8xf32>) {
  gnn.yield %a : tensor<8xf32>
}
// CHECK: a result without rows must come from gnn.global_reduce

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.conv_block layer 1 targets(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> (tensor<8xf32>) {
  %s = gnn.global_reduce sum "aten.sum.dim_IntList"(%a, [0]) : (tensor<?x8xf32, #gnn.on<nodes "n">>) -> tensor<8xf32>
  %t = gnn.global_call "aten.neg.default"(%s) : (tensor<8xf32>) -> tensor<8xf32>
  gnn.yield %t : tensor<8xf32>
}
// CHECK: a result without rows must come from gnn.global_reduce

// -----

%s, %m, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">)
%y = gnn.conv_block layer 1 structure(%s1 = %s : tensor<?x4xf32, #gnn.on<edges "e">>, %e1 = %e : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x4xf32, #gnn.on<nodes "n">>) {
  %a = gnn.edge_softmax %s1 at target of %e1 eps 0.0 layer 1 conv 7 : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
  %z = gnn.aggregate sum %a at target of %e1 layer 1 conv 7 sample <fanout 2 seed 0> : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x4xf32, #gnn.on<nodes "n">>
  gnn.yield %z : tensor<?x4xf32, #gnn.on<nodes "n">>
}
// CHECK: the reductions of conv 7 must share one sample
