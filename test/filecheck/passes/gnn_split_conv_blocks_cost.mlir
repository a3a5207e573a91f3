// RUN: gnnc-opt %s -p 'gnn-split-conv-blocks{loads=24}' | filecheck %s --check-prefix TIME
// RUN: gnnc-opt %s -p 'gnn-split-conv-blocks{loads=1}' | filecheck %s --check-prefix ONCE
// RUN: gnnc-opt %s -p 'gnn-split-conv-blocks{cost=bytes loads=24}' | filecheck %s --check-prefix BYTES
// RUN: gnnc-opt %s -p 'gnn-split-conv-blocks{cost=tensors loads=24}' | filecheck %s --check-prefix TENSORS

// RUN: gnnc-opt %s -p 'gnn-split-conv-blocks{cost=stored loads=1}' | filecheck %s --check-prefix ONCE
// RUN: gnnc-opt %s -p 'gnn-split-conv-blocks{cost=stored loads=2}' | filecheck %s --check-prefix TIME
// RUN: gnnc-opt %s -p 'gnn-split-conv-blocks{loads=1},gnn-inline-conv-blocks,gnn-split-conv-blocks{cost=stored}' | filecheck %s --check-prefix TIME

// A GAT layer widens what it projects: 96 numbers a node become 128. Loading 128 numbers costs more than 96, but for 24
// neighbours the projection is computed once or 24 times. Projections to fewer numbers are stored at any price.
!x = tensor<?x96xf32, #gnn.on<nodes "n">>
!wide = tensor<?x128xf32, #gnn.on<nodes "n">>
!narrow = tensor<?x8xf32, #gnn.on<nodes "n">>
!e = !gnn.edges<"e", "n" -> "n">
gnn.weight @widen : tensor<128x96xf32>
gnn.weight @narrow : tensor<8x128xf32>
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> !e {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}
func.func @forward(%x: !x {gnn.name = "x"}, %e: !e {gnn.structure = 0 : i64}) -> !narrow {
  %w = gnn.load_weight @widen : tensor<128x96xf32>
  %projected = gnn.linear %x, %w : !x, tensor<128x96xf32> -> !wide
  %m1 = gnn.gather %projected at source of %e : !wide, !e -> tensor<?x128xf32, #gnn.on<edges "e">>
  %h1 = gnn.aggregate sum %m1 at target of %e : tensor<?x128xf32, #gnn.on<edges "e">>, !e -> !wide
  %v = gnn.load_weight @narrow : tensor<8x128xf32>
  %small = gnn.linear %h1, %v : !wide, tensor<8x128xf32> -> !narrow
  %m2 = gnn.gather %small at source of %e : !narrow, !e -> tensor<?x8xf32, #gnn.on<edges "e">>
  %h2 = gnn.aggregate sum %m2 at target of %e : tensor<?x8xf32, #gnn.on<edges "e">>, !e -> !narrow
  func.return %h2 : !narrow
}

// TIME-LABEL: func.func @forward(
// TIME-NEXT:  gnn.conv_block layer 0 targets(%x_1 = %x : tensor<?x96xf32, #gnn.on<nodes "n">>) -> (tensor<?x128xf32, #gnn.on<nodes "n">>)
// TIME-NEXT:  gnn.load_weight @widen
// TIME-NEXT:  %projected = gnn.linear
// TIME-NEXT:  gnn.yield %projected
// TIME:       gnn.conv_block layer 1 neighbors(%projected = %0 : {{[^)]*}}) structure(%e_1 = %e : {{[^)]*}}) -> (tensor<?x8xf32, #gnn.on<nodes "n">>)
// TIME:       gnn.yield %small
// TIME:       gnn.conv_block layer 2 neighbors(%small = %1 : {{[^)]*}})

// Computed once or once: not stored.
// ONCE-LABEL: func.func @forward(
// ONCE-NEXT:  gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x96xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : {{[^)]*}}) -> (tensor<?x8xf32, #gnn.on<nodes "n">>)
// ONCE:       %projected = gnn.linear
// ONCE:       gnn.yield %small
// ONCE:       gnn.conv_block layer 2 neighbors(%small = %0 : {{[^)]*}})

// BYTES-LABEL: func.func @forward(
// BYTES-NEXT:  gnn.conv_block layer 1 neighbors(%x_1 = %x : tensor<?x96xf32, #gnn.on<nodes "n">>) structure(%e_1 = %e : {{[^)]*}}) -> (tensor<?x8xf32, #gnn.on<nodes "n">>)
// BYTES:       %projected = gnn.linear
// BYTES:       gnn.yield %small
// BYTES:       gnn.conv_block layer 2 neighbors(%small = %0 : {{[^)]*}})

// One tensor before the projection or after it: the tie binds upstream.
// TENSORS-LABEL: func.func @forward(
// TENSORS-NEXT:  gnn.conv_block layer 0 targets(%x_1 = %x : tensor<?x96xf32, #gnn.on<nodes "n">>) -> (tensor<?x128xf32, #gnn.on<nodes "n">>)
// TENSORS:       gnn.yield %projected
// TENSORS:       gnn.conv_block layer 1
// TENSORS:       gnn.yield %small
// TENSORS:       gnn.conv_block layer 2 neighbors(%small = %1 : {{[^)]*}})
