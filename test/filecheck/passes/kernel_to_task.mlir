// RUN: gnnc-opt %s -p 'kernel-partition{nodes=2708}' | filecheck %s --check-prefix PARTITION
// RUN: gnnc-opt %s -p 'kernel-partition{nodes=2708 method=alg9-exact}' | filecheck %s --check-prefix EXACT
// RUN: gnnc-opt %s -p 'kernel-partition{nodes=2708 method=search n1=256 n2=32}' | filecheck %s --check-prefix SEARCH
// RUN: gnnc-opt %s -p kernel-annotate-density | filecheck %s --check-prefix DENSITY
// RUN: gnnc-opt %s -p 'kernel-partition{nodes=2708},convert-kernel-to-task{nodes=2708}' | filecheck %s --check-prefix TASK

// The first layer of a GCN on Cora, in the order A(HW).
!x = tensor<?x1433xf32, #gnn.on<nodes "n">>
!h = tensor<?x16xf32, #gnn.on<nodes "n">>
!a = !kernel.adjacency<"n" x "n">
func.func @structure() -> !a {
  %a = "test.op"() : () -> !a
  func.return %a : !a
}
func.func @forward(%x: !x {gnn.name = "x", gnn.density = #gnn.density<49216/3880564>}, %a: !a {gnn.structure = 0 : i64, gnn.density = #gnn.density<13264/7333264>}, %w: tensor<1433x16xf32> {kernel.weight = 0 : i64}) -> !h {
  %u = kernel.update %x times %w layer 1 : !x times tensor<1433x16xf32> -> !h
  %h = kernel.aggregate %a times %u activation <relu> layer 1 : !a times !h -> !h
  func.return %h : !h
}

// PARTITION: kernel.update {{.*}} scheme <n1 32 n2 32 grid 85x1 inner [45]>
// PARTITION: kernel.aggregate {{.*}} scheme <n1 32 n2 32 grid 85x1 inner [85]>

// EXACT: kernel.update {{.*}} scheme <n1 64 n2 64 grid 43x1 inner [23]>
// EXACT: kernel.aggregate {{.*}} scheme <n1 64 n2 64 grid 43x1 inner [43]>

// SEARCH: kernel.update {{.*}} scheme <n1 256 n2 32 grid 85x1 inner [45]>
// SEARCH: kernel.aggregate {{.*}} scheme <n1 256 n2 32 grid 11x1 inner [11]>

// DENSITY: kernel.update {{.*}} densities [#gnn.density<49216/3880564>, #gnn.density<?>]
// DENSITY: kernel.aggregate {{.*}} densities [#gnn.density<13264/7333264>, #gnn.density<?>]

// TASK:      %[[U:\S+]] = task.range "update" first 0 nodes 2708 fusion 1 %x times %w layer 1 scheme <n1 32 n2 32 grid 85x1 inner [45]>
// TASK-NEXT: task.barrier
// TASK-NEXT: %[[H:\S+]] = task.range "aggregate" first 85 nodes 2708 fusion 1 %a times %[[U]] activation <relu> layer 1
// TASK-NEXT: func.return %[[H]]
