// RUN: not gnnc-opt %s -p gnn-raise-messages 2>&1 | filecheck %s
// RUN: not gnnc-opt %s -p gnn-prune-structure 2>&1 | filecheck %s
// RUN: not gnnc-opt %s -p gnn-index-convs 2>&1 | filecheck %s
// RUN: not gnnc-opt %s -p 'gnn-sample-neighbors{fanout=1}' 2>&1 | filecheck %s
// RUN: not gnnc-opt %s -p gnn-split-conv-blocks 2>&1 | filecheck %s

func.func @structure() {
  func.return
}

// CHECK: the module has no func.func @forward
