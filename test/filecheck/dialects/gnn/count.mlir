// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

%papers = gnn.count on<nodes "paper">
%cites = gnn.count on<edges "cites"> {note}

// CHECK:      %papers = gnn.count on<nodes "paper">
// CHECK-NEXT: %cites = gnn.count on<edges "cites"> {note}
