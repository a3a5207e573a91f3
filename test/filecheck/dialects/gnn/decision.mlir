// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

"test.op"() {a = #gnn.decision<"gnn-reorder-linear" on "linear 128 to 47" at "größe model.py:12" chose "A(XW)" predicted {"A(XW)" = 9 : i64, "(AX)W" = 12 : i64} measured {"A(XW)" = 8 : i64} in "ps a node">} : () -> ()
"test.op"() {a = #gnn.decision<"gnn-fuse-conv" on "sum" at "" chose "apart" predicted {} measured {} in "ps an edge">} : () -> ()

// CHECK:      "test.op"() {a = #gnn.decision<"gnn-reorder-linear" on "linear 128 to 47" at "gr\C3\B6\C3\9Fe model.py:12" chose "A(XW)" predicted {"A(XW)" = 9 : i64, "(AX)W" = 12 : i64} measured {"A(XW)" = 8 : i64} in "ps a node">} : () -> ()
// CHECK-NEXT: "test.op"() {a = #gnn.decision<"gnn-fuse-conv" on "sum" at "" chose "apart" predicted {} measured {} in "ps an edge">} : () -> ()
