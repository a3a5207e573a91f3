// RUN: gnnc-opt %s -p gnn-select-primitives | filecheck %s
// RUN: gnnc-opt %s -p 'gnn-select-primitives{columns=100,1000 widths=4 dense=10.0,12.0 crossovers=0.01,0.5}' | filecheck %s --check-prefix TABLE
// RUN: not gnnc-opt %s -p 'gnn-select-primitives{columns=100 widths=4 dense=10.0}' 2>&1 | filecheck %s --check-prefix WRONG

// Features that are given are read as sparse rows where they are less dense than at the crossover of such a product.
!x = tensor<?x1433xf32, #gnn.on<nodes "n">>
!t = tensor<?x90xf32, #gnn.on<nodes "n">>
!h = tensor<?x4xf32, #gnn.on<nodes "n">>
func.func @structure() -> !t {
  %t = "test.op"() : () -> !t
  func.return %t : !t
}
gnn.weight @w : tensor<4x1433xf32>
gnn.weight @v : tensor<4x90xf32>
gnn.weight @u : tensor<4x4xf32>
// CHECK: func.func @forward
// TABLE: func.func @forward
func.func @forward(%x: !x {gnn.name = "x"}, %t: !t {gnn.name = "t"}, %d: !t {gnn.structure = 0 : i64}, %half: tensor<?x90xf16, #gnn.on<nodes "n">> {gnn.name = "half"}) -> (!h, !h, !h, !h, !h, tensor<?x4xf16, #gnn.on<nodes "n">>) {
  // CHECK: gnn.linear {{.*}} primitive <csr crossover 0.54>
  // TABLE: gnn.linear {{.*}} primitive <csr crossover 0.5>
  %w = gnn.load_weight @w : tensor<4x1433xf32>
  %a = gnn.linear %x, %w densities [#gnn.density<1/100>, #gnn.density<?>] : !x, tensor<4x1433xf32> -> !h

  // CHECK: gnn.linear {{.*}} primitive <dense crossover 0.3>
  // TABLE: gnn.linear {{.*}} primitive <dense crossover 0.01>
  %v = gnn.load_weight @v : tensor<4x90xf32>
  %b = gnn.linear %t, %v densities [#gnn.density<3/10>, #gnn.density<?>] : !t, tensor<4x90xf32> -> !h

  // A density that isn't known says nothing for sparse rows; a run may.
  // CHECK: gnn.linear {{.*}} primitive <dense crossover 0.3>
  %c = gnn.linear %t, %v : !t, tensor<4x90xf32> -> !h

  // What the program computes is never converted, nor half-precision numbers, for which there is no such product.
  // CHECK-NOT: primitive
  %u = gnn.load_weight @u : tensor<4x4xf32>
  %e = gnn.linear %a, %u : !h, tensor<4x4xf32> -> !h
  %f = gnn.linear %d, %v : !t, tensor<4x90xf32> -> !h
  %g = gnn.linear %half, %v : tensor<?x90xf16, #gnn.on<nodes "n">>, tensor<4x90xf32> -> tensor<?x4xf16, #gnn.on<nodes "n">>
  func.return %a, %b, %c, %e, %f, %g : !h, !h, !h, !h, !h, tensor<?x4xf16, #gnn.on<nodes "n">>
}

// WRONG: gnn-select-primitives: 1 columns and 1 widths need 1 prices of dense products and as many crossovers
