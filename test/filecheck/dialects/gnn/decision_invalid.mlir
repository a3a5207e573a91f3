// RUN: gnnc-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

"test.op"() {a = #gnn.decision<"p" on "s" at "" chose "c" predicted {"a" = 1 : i64, "b" = 2 : i64} measured {} in "ps">} : () -> ()
// CHECK: c is none of the choices a, b

// -----

"test.op"() {a = #gnn.decision<"p" on "s" at "" chose "a" predicted {"a" = "dear"} measured {} in "ps">} : () -> ()
// CHECK: the price of a choice is an integer
