// RUN: gnnc-opt %s --split-input-file --parsing-diagnostics | filecheck %s --match-full-lines

// Groups come in one order.
%x, %m = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<edges "e">>)
gnn.conv_block layer 1 edges(%a = %m : tensor<?x8xf32, #gnn.on<edges "e">>) targets(%b = %x : tensor<?x8xf32, #gnn.on<nodes "n">>) -> () {
  gnn.yield
}
// CHECK: Expected '->'
