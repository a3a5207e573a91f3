// RUN: gnnc-opt %s --split-input-file -p canonicalize | filecheck %s --match-full-lines

// reshape(x) of x's own type is x.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
%x = "test.op"() : () -> !x
%y = gnn.reshape %x : !x -> !x
"test.op"(%y) : (!x) -> ()

// CHECK:      %x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()

// -----

// A chain of reshapes is one reshape.
#n = #gnn.on<nodes "n">
%x = "test.op"() : () -> tensor<?x4xf32, #n>
%y = gnn.reshape %x : tensor<?x4xf32, #n> -> tensor<?x2x2xf32, #n>
%z = gnn.reshape %y : tensor<?x2x2xf32, #n> -> tensor<?x4x1xf32, #n>
%w = gnn.reshape %z : tensor<?x4x1xf32, #n> -> tensor<?x1x4xf32, #n>
"test.op"(%w) : (tensor<?x1x4xf32, #n>) -> ()

// CHECK:      %x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %w = gnn.reshape %x : tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x1x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%w) : (tensor<?x1x4xf32, #gnn.on<nodes "n">>) -> ()

// -----

// There and back is nothing at all.
#n = #gnn.on<nodes "n">
%x = "test.op"() : () -> tensor<?x4xf32, #n>
%y = gnn.reshape %x : tensor<?x4xf32, #n> -> tensor<?x2x2xf32, #n>
%z = gnn.reshape %y : tensor<?x2x2xf32, #n> -> tensor<?x4xf32, #n>
"test.op"(%z) : (tensor<?x4xf32, #n>) -> ()

// CHECK:      %x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()

// -----

// An inner reshape that something else uses stays.
#n = #gnn.on<nodes "n">
%x = "test.op"() : () -> tensor<?x4xf32, #n>
%y = gnn.reshape %x : tensor<?x4xf32, #n> -> tensor<?x2x2xf32, #n>
%z = gnn.reshape %y : tensor<?x2x2xf32, #n> -> tensor<?x1x4xf32, #n>
"test.op"(%y, %z) : (tensor<?x2x2xf32, #n>, tensor<?x1x4xf32, #n>) -> ()

// CHECK:      %x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %y = gnn.reshape %x : tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x2x2xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %z = gnn.reshape %x : tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x1x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%y, %z) : (tensor<?x2x2xf32, #gnn.on<nodes "n">>, tensor<?x1x4xf32, #gnn.on<nodes "n">>) -> ()

// -----

// reverse(reverse(e)) is e.
%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">
%s = gnn.reverse %r : !gnn.edges<"e", "b" -> "a"> -> !gnn.edges<"e", "a" -> "b">
"test.op"(%s) : (!gnn.edges<"e", "a" -> "b">) -> ()

// CHECK:      %e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: "test.op"(%e) : (!gnn.edges<"e", "a" -> "b">) -> ()

// -----

// One reverse that is asked for stays.
%e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
%r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">
"test.op"(%r) : (!gnn.edges<"e", "b" -> "a">) -> ()

// CHECK:      %e = "test.op"() : () -> !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: %r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">
// CHECK-NEXT: "test.op"(%r) : (!gnn.edges<"e", "b" -> "a">) -> ()

// -----

// What crosses reversed edges crosses the edges themselves, from the other end; everything else about it stays.
#a = #gnn.on<nodes "a">
#b = #gnn.on<nodes "b">
#e = #gnn.on<edges "e">
!r = !gnn.edges<"e", "b" -> "a">
%e, %x, %init = "test.op"() : () -> (!gnn.edges<"e", "a" -> "b">, tensor<?x4xf32, #b>, tensor<?x4xf32, #a>)
%r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !r
%m = gnn.gather %x at source of %r : tensor<?x4xf32, #b>, !r -> tensor<?x4xf32, #e>
%p = gnn.edge_softmax %m at target of %r eps 0.5 layer 1 conv 0 : tensor<?x4xf32, #e>, !r
%y = gnn.aggregate max %p at target of %r layer 1 conv 0 {note} : tensor<?x4xf32, #e>, !r -> tensor<?x4xf32, #a>
%z = gnn.scatter min %p into %init with_init at target of %r : tensor<?x4xf32, #e>, tensor<?x4xf32, #a>, !r
"test.op"(%y, %z) : (tensor<?x4xf32, #a>, tensor<?x4xf32, #a>) -> ()

// CHECK:      %e, %x, %init = "test.op"() : () -> (!gnn.edges<"e", "a" -> "b">, tensor<?x4xf32, #gnn.on<nodes "b">>, tensor<?x4xf32, #gnn.on<nodes "a">>)
// CHECK-NEXT: %m = gnn.gather %x at target of %e : tensor<?x4xf32, #gnn.on<nodes "b">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<edges "e">>
// CHECK-NEXT: %p = gnn.edge_softmax %m at source of %e eps 5.000000e-01 layer 1 conv 0 : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: %y = gnn.aggregate max %p at source of %e layer 1 conv 0 {note} : tensor<?x4xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "a" -> "b"> -> tensor<?x4xf32, #gnn.on<nodes "a">>
// CHECK-NEXT: %z = gnn.scatter min %p into %init with_init at source of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "a">>, !gnn.edges<"e", "a" -> "b">
// CHECK-NEXT: "test.op"(%y, %z) : (tensor<?x4xf32, #gnn.on<nodes "a">>, tensor<?x4xf32, #gnn.on<nodes "a">>) -> ()

// -----

// x * 1 is x, whichever side the 1 is on.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
%x = "test.op"() : () -> !x
%ones = gnn.fill 1.0 : f64 -> tensor<?x1xf32, #gnn.on<nodes "n">>
%one = gnn.constant 1 : i64 -> tensor<i64>
%y = gnn.mul %x, %ones : !x, tensor<?x1xf32, #gnn.on<nodes "n">> -> !x
%z = gnn.mul %one, %y : tensor<i64>, !x -> !x
"test.op"(%z) : (!x) -> ()

// CHECK:      %x = "test.op"() : () -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%x) : (tensor<?x4xf32, #gnn.on<nodes "n">>) -> ()

// -----

// x + 0 is x, whichever side the 0 is on, but not where it makes more numbers of x.
!x = tensor<?x4xf32, #gnn.on<nodes "n">>
!c = tensor<?x1xf32, #gnn.on<nodes "n">>
%x, %c = "test.op"() : () -> (!x, !c)
%zeros = gnn.fill 0.0 : f64 -> !x
%zero = gnn.constant 0 : i64 -> tensor<i64>
%y = gnn.add %x, %zeros : !x, !x -> !x
%z = gnn.add %zero, %y : tensor<i64>, !x -> !x
%more = gnn.add %c, %zeros : !c, !x -> !x
"test.op"(%z, %more) : (!x, !x) -> ()

// CHECK:      %x, %c = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<nodes "n">>)
// CHECK-NEXT: %zeros = gnn.fill {{.*}}
// CHECK-NEXT: %more = gnn.add %c, %zeros {{.*}}
// CHECK-NEXT: "test.op"(%x, %more) {{.*}}

// -----

// The product stays where the factor is not 1, or where the type changes: more rows of numbers, other numbers.
!x = tensor<?x1xf32, #gnn.on<nodes "n">>
!d = tensor<?x1xf64, #gnn.on<nodes "n">>
!w = tensor<?x4xf32, #gnn.on<nodes "n">>
%x = "test.op"() : () -> !x
%two = gnn.constant 2 : i64 -> tensor<i64>
%wide = gnn.fill 1.0 : f64 -> !w
%double = gnn.fill 1.0 : f64 -> !d
%a = gnn.mul %x, %two : !x, tensor<i64> -> !x
%b = gnn.mul %x, %wide : !x, !w -> !w
%c = gnn.mul %double, %x : !d, !x -> !d
"test.op"(%a, %b, %c) : (!x, !w, !d) -> ()

// CHECK:      %a = gnn.mul %x, %two : tensor<?x1xf32, #gnn.on<nodes "n">>, tensor<i64> -> tensor<?x1xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %b = gnn.mul %x, %wide : tensor<?x1xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %c = gnn.mul %double, %x : tensor<?x1xf64, #gnn.on<nodes "n">>, tensor<?x1xf32, #gnn.on<nodes "n">> -> tensor<?x1xf64, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%a, %b, %c) : (tensor<?x1xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x1xf64, #gnn.on<nodes "n">>) -> ()

// -----

// select, stack and repeat of one thing are reshapes, a concatenation of one value is that value.
!x = tensor<?x1x4xf32, #gnn.on<nodes "n">>
!y = tensor<?x4xf32, #gnn.on<nodes "n">>
%x = "test.op"() : () -> !x
%s = gnn.rowwise "aten.select.int"(%x, 1, 0) : (!x) -> !y
%c = gnn.concat %s axis 1 : !y -> !y
%t = gnn.rowwise "aten.stack.default"([%c], 1) : (!y) -> !x
%r = gnn.rowwise "aten.repeat.default"(%t, [1, 1, 2]) : (!x) -> tensor<?x1x8xf32, #gnn.on<nodes "n">>
"test.op"(%s, %t, %r) : (!y, !x, tensor<?x1x8xf32, #gnn.on<nodes "n">>) -> ()

// CHECK:      %x = "test.op"() : () -> tensor<?x1x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %s = gnn.reshape %x : tensor<?x1x4xf32, #gnn.on<nodes "n">> -> tensor<?x4xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: %r = gnn.rowwise "aten.repeat.default"(%x, [1, 1, 2]) : (tensor<?x1x4xf32, #gnn.on<nodes "n">>) -> tensor<?x1x8xf32, #gnn.on<nodes "n">>
// CHECK-NEXT: "test.op"(%s, %x, %r) : (tensor<?x4xf32, #gnn.on<nodes "n">>, tensor<?x1x4xf32, #gnn.on<nodes "n">>, tensor<?x1x8xf32, #gnn.on<nodes "n">>) -> ()
