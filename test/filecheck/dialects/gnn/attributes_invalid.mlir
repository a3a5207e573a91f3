// RUN: gnnc-opt %s --split-input-file --verify-diagnostics | filecheck %s --match-full-lines

"test.op"() {kind = #gnn.on<faces "n">} : () -> ()
// CHECK: a domain is "nodes" or "edges", not "faces"

// -----

"test.op"() {sample = #gnn.sample<fanout 0 seed 0>} : () -> ()
// CHECK: a sample has at least one edge, not 0

// -----

"test.op"() {a = #gnn.density<5/4>} : () -> ()
// CHECK: 5 of 4 numbers can't be nonzero

// -----

"test.op"() {how = #gnn.primitive<coo crossover 0.5>} : () -> ()
// CHECK: a left side is read as csr or dense, not as coo

// -----

"test.op"() {how = #gnn.primitive<csr crossover 1.5>} : () -> ()
// CHECK: a density is between 0 and 1, and 1.5 is not

// -----

// The rule for tensors holds for operands and results of every operation of the dialect.
%x = "test.op"() : () -> tensor<?x8xf32>
%y = gnn.relu %x : tensor<?x8xf32>
// CHECK: operand 0 has an unknown size but no #gnn.on encoding that names its domain

// -----

%x, %y = "test.op"() : () -> (tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32>)
%z = gnn.add %x, %y : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
// CHECK: operand 1 has an unknown size but no #gnn.on encoding that names its domain

// -----

%y = gnn.fill 1.0 : f64 -> tensor<?x8xf32>
// CHECK: result 0 has an unknown size but no #gnn.on encoding that names its domain

// -----

%x = "test.op"() : () -> tensor<?x?xf32, #gnn.on<nodes "n">>
%y = gnn.relu %x : tensor<?x?xf32, #gnn.on<nodes "n">>
// CHECK: operand 0 is on a domain and must have exactly one `?`, it has 2

// -----

%y = gnn.fill 1.0 : f64 -> tensor<4x8xf32, #gnn.on<nodes "n">>
// CHECK: result 0 is on a domain and must have exactly one `?`, it has 0

// -----

// An encoding of another kind is no domain.
%x = "test.op"() : () -> tensor<?x8xf32, "n">
%y = gnn.relu %x : tensor<?x8xf32, "n">
// CHECK: operand 0 has an unknown size but no #gnn.on encoding that names its domain
