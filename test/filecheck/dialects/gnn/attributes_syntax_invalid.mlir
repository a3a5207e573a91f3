// RUN: gnnc-opt %s --split-input-file --parsing-diagnostics | filecheck %s --match-full-lines

"test.op"() {name = #gnn.on<nodes n>} : () -> ()
// CHECK: string literal expected

// -----

"test.op"() {name = #gnn.on<nodes "\FF">} : () -> ()
// CHECK: a name must be UTF-8

// -----

"test.op"() {edges = !gnn.edges<"e", "a", "b">} : () -> ()
// CHECK: Expected '->'{{.*}}

// -----

"test.op"() {end = #gnn<end middle>} : () -> ()
// CHECK: Expected `source`, or `target`.

// -----

"test.op"() {reduction = #gnn<reduction median>} : () -> ()
// CHECK: Expected `sum`, `mean`, `max`, `min`, or `mul`.

// -----

"test.op"() {operand = #gnn.operand<-1>} : () -> ()
// CHECK: Expected integer literal

// -----

"test.op"() {sample = #gnn.sample<fanout 1>} : () -> ()
// CHECK: Expected 'seed'

// -----

%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.elu %x alpha 0x10000000000000000 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: a double has 64 bits

// -----

// An integer is not taken for bits.
%x = "test.op"() : () -> tensor<?x8xf32, #gnn.on<nodes "n">>
%y = gnn.elu %x alpha 1 : tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: Expected float literal
