// RUN: gnnc-opt %s -p kernel-partition --split-input-file --verify-diagnostics | filecheck %s --check-prefix NODES
// RUN: gnnc-opt %s -p 'kernel-partition{nodes=4 method=search n1=24 n2=16}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix SIZES
// RUN: gnnc-opt %s -p 'convert-kernel-to-task{nodes=4}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix SCHEME
// RUN: gnnc-opt %s -p convert-kernel-to-task --split-input-file --verify-diagnostics | filecheck %s --check-prefix TASKS
// RUN: gnnc-opt %s -p 'kernel-partition{nodes=99},convert-kernel-to-task{nodes=4}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix OTHER

!x = tensor<?x4xf32, #gnn.on<nodes "n">>
func.func @structure() {
  func.return
}
func.func @forward(%x: !x {gnn.name = "x"}, %w: tensor<4x4xf32> {kernel.weight = 0 : i64}) -> !x {
  %u = kernel.update %x times %w layer 1 : !x times tensor<4x4xf32> -> !x
  func.return %u : !x
}
// NODES: kernel-partition needs the number of nodes: give nodes=
// SIZES: kernel-partition takes from a search n1=24 and n2=16, which are no legal sizes
// SCHEME: kernel.update has no scheme: run kernel-partition first
// TASKS: convert-kernel-to-task needs the number of nodes: give nodes=
// OTHER: kernel.update has a scheme for other nodes than 4: run kernel-partition with as many
