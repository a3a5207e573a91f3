// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

#n = #gnn.on<nodes "n">
#e = #gnn.on<edges "e">
!e = !gnn.edges<"e", "n" -> "n">
%m, %init, %e = "test.op"() : () -> (tensor<?x4xf32, #e>, tensor<?x4xf32, #n>, !e)
%sum = gnn.scatter sum %m into %init at target of %e : tensor<?x4xf32, #e>, tensor<?x4xf32, #n>, !e
%mean = gnn.scatter mean %m into %init with_init at source of %e : tensor<?x4xf32, #e>, tensor<?x4xf32, #n>, !e
%max = gnn.scatter max %m into %init with_init at target of %e layer 2 conv 1 {note} : tensor<?x4xf32, #e>, tensor<?x4xf32, #n>, !e
%min = gnn.scatter min %m into %init at target of %e layer 0 conv 0 : tensor<?x4xf32, #e>, tensor<?x4xf32, #n>, !e
%mul = gnn.scatter mul %m into %init at target of %e {note} : tensor<?x4xf32, #e>, tensor<?x4xf32, #n>, !e

// CHECK:      %m, %init, %e = "test.op"() : () -> (tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">)
// CHECK-NEXT: %sum = gnn.scatter sum %m into %init at target of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %mean = gnn.scatter mean %m into %init with_init at source of %e : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %max = gnn.scatter max %m into %init with_init at target of %e layer 2 conv 1 {note} : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %min = gnn.scatter min %m into %init at target of %e layer 0 conv 0 : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">
// CHECK-NEXT: %mul = gnn.scatter mul %m into %init at target of %e {note} : tensor<?x4xf32, #gnn.on<edges "e">>, tensor<?x4xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">
