// RUN: gnnc-opt %s --split-input-file -p gnn-raise-messages,dce | filecheck %s

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// PyG: 1e-16 keeps the division from 0 / 0. Weights go through row-wise work on their way to a reduction at that end.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64})
    -> (!nodes, !nodes) {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %weighted = gnn.mul %alpha, %m : !scores, !scores -> !scores
  %y = gnn.scatter sum %weighted into %zeros with_init at target of %e : !scores, !nodes, !edges

  // Without eps.
  %total0 = gnn.gather %sum at target of %e : !nodes, !edges -> !scores
  %alpha0 = gnn.div %exp, %total0 : !scores, !scores -> !scores
  %z = gnn.scatter max %alpha0 into %zeros at target of %e : !scores, !nodes, !edges
  func.return %y, %z : !nodes, !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NEXT:  %m = gnn.gather %x at source of %e :
// CHECK-NEXT:  %alpha = gnn.edge_softmax %m at target of %e eps 1.000000e-16 :
// CHECK-NEXT:  %weighted = gnn.mul %alpha, %m :
// CHECK-NEXT:  %y = gnn.aggregate sum %weighted at target of %e :
// CHECK-NEXT:  %alpha0 = gnn.edge_softmax %m at target of %e eps 0.000000e+00 :
// CHECK-NEXT:  %z = gnn.aggregate max %alpha0 at target of %e :
// CHECK-NEXT:  func.return %y, %z

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the maximum is taken over the edges of another set.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %f : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %f : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the maximum is fetched through another set.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %f : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the maximum is that of other scores.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %other = gnn.gather %x at target of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %other into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the maximum is taken at the other end.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at source of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at source of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the maximum of one end is fetched at the other.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at source of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the sum is over the edges at the other end.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at source of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at source of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the sum of one end is fetched at the other.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at source of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: what is added to the sum is a feature.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %x : !nodes, !nodes -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the weights are reduced at another end than the one where they add up to one, so no batch would hold all it needs.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at source of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the weights are reduced over another set.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %f : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: the weights, after row-wise work, are also reduced at the other end.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  %squared = gnn.mul %alpha, %alpha : !scores, !scores -> !scores
  %z = gnn.aggregate sum %squared at source of %e : !scores, !edges -> !nodes
  "test.op"(%z) : (!nodes) -> ()
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y

// -----

!nodes = tensor<?x2xf32, #gnn.on<nodes "n">>
!scores = tensor<?x2xf32, #gnn.on<edges "e">>
!edges = !gnn.edges<"e", "n" -> "n">

func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!edges, !edges) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !edges
  %f = gnn.reverse %e : !edges -> !edges
  func.return %e, %f : !edges, !edges
}

// No softmax: something that is no reduction has the weights.
func.func @forward(%x: !nodes {gnn.name = "x"}, %e: !edges {gnn.structure = 0 : i64}, %f: !edges {gnn.structure = 1 : i64}) -> !nodes {
  %zeros = gnn.fill 0 : i64 -> !nodes
  %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
  %m = gnn.gather %x at source of %e : !nodes, !edges -> !scores
  %max = gnn.scatter max %m into %zeros at target of %e : !scores, !nodes, !edges
  %shift = gnn.gather %max at target of %e : !nodes, !edges -> !scores
  %shifted = gnn.sub %m, %shift : !scores, !scores -> !scores
  %exp = gnn.exp %shifted : !scores
  %sum = gnn.scatter sum %exp into %zeros with_init at target of %e : !scores, !nodes, !edges
  %sum_eps = gnn.add %sum, %eps : !nodes, tensor<f64> -> !nodes
  %total = gnn.gather %sum_eps at target of %e : !nodes, !edges -> !scores
  %alpha = gnn.div %exp, %total : !scores, !scores -> !scores
  "test.op"(%alpha) : (!scores) -> ()
  %y = gnn.scatter sum %alpha into %zeros with_init at target of %e : !scores, !nodes, !edges
  func.return %y : !nodes
}

// CHECK-LABEL: func.func @forward(
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       gnn.div %exp, %total :
// CHECK-NOT:   gnn.edge_softmax
// CHECK:       func.return %y
