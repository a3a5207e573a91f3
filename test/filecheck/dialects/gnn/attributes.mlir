// RUN: gnnc-opt %s | gnnc-opt | filecheck %s --match-full-lines
// RUN: gnnc-opt --print-op-generic %s | gnnc-opt | filecheck %s --match-full-lines

"test.op"() {nodes = #gnn.on<nodes "n">, edges = #gnn.on<edges "e">, empty = #gnn.on<nodes "">} : () -> ()
"test.op"() {space = #gnn.on<nodes "two words">, quote = #gnn.on<nodes "a \"quoted\" \\ name">, newline = #gnn.on<edges "a\nb">} : () -> ()
"test.op"() {unicode = #gnn.on<nodes "größe→论文">, escaped = #gnn.on<nodes "gr\C3\B6">, angle = #gnn.on<nodes "a > b, -> c">} : () -> ()
"test.op"() {edges = !gnn.edges<"cites", "paper" -> "paper">, space = !gnn.edges<"is written by", "the paper" -> "the author">} : () -> ()
"test.op"() {quote = !gnn.edges<"\"e\"", "\"s\"" -> "\"t\"">, unicode = !gnn.edges<"zitiert→", "Größe" -> "论文">} : () -> ()
"test.op"() {source = #gnn<end source>, target = #gnn<end target>, operand = #gnn.operand<12>} : () -> ()
"test.op"() {sum = #gnn<reduction sum>, mean = #gnn<reduction mean>, max = #gnn<reduction max>, min = #gnn<reduction min>, mul = #gnn<reduction mul>} : () -> ()
"test.op"() {sample = #gnn.sample<fanout 10 seed 0>, negative = #gnn.sample<fanout 1 seed -5>} : () -> ()
"test.op"() {linear = #gnn<interpolation linear>, lower = #gnn<interpolation lower>, higher = #gnn<interpolation higher>, nearest = #gnn<interpolation nearest>, midpoint = #gnn<interpolation midpoint>, lstm = #gnn<cell lstm>, gru = #gnn<cell gru>} : () -> ()
%x, %y = "test.op"() : () -> (tensor<?x2xf32, #gnn.on<nodes "größe">>, tensor<2x?xi64, #gnn.on<edges "e">>)

// CHECK:      "test.op"() {nodes = #gnn.on<nodes "n">, edges = #gnn.on<edges "e">, empty = #gnn.on<nodes "">} : () -> ()
// CHECK-NEXT: "test.op"() {space = #gnn.on<nodes "two words">, quote = #gnn.on<nodes "a \22quoted\22 \\ name">, newline = #gnn.on<edges "a\0Ab">} : () -> ()
// CHECK-NEXT: "test.op"() {unicode = #gnn.on<nodes "gr\C3\B6\C3\9Fe\E2\86\92\E8\AE\BA\E6\96\87">, escaped = #gnn.on<nodes "gr\C3\B6">, angle = #gnn.on<nodes "a > b, -> c">} : () -> ()
// CHECK-NEXT: "test.op"() {edges = !gnn.edges<"cites", "paper" -> "paper">, space = !gnn.edges<"is written by", "the paper" -> "the author">} : () -> ()
// CHECK-NEXT: "test.op"() {quote = !gnn.edges<"\22e\22", "\22s\22" -> "\22t\22">, unicode = !gnn.edges<"zitiert\E2\86\92", "Gr\C3\B6\C3\9Fe" -> "\E8\AE\BA\E6\96\87">} : () -> ()
// CHECK-NEXT: "test.op"() {source = #gnn<end source>, target = #gnn<end target>, operand = #gnn.operand<12>} : () -> ()
// CHECK-NEXT: "test.op"() {sum = #gnn<reduction sum>, mean = #gnn<reduction mean>, max = #gnn<reduction max>, min = #gnn<reduction min>, mul = #gnn<reduction mul>} : () -> ()
// CHECK-NEXT: "test.op"() {sample = #gnn.sample<fanout 10 seed 0>, negative = #gnn.sample<fanout 1 seed -5>} : () -> ()
// CHECK-NEXT: "test.op"() {linear = #gnn<interpolation linear>, lower = #gnn<interpolation lower>, higher = #gnn<interpolation higher>, nearest = #gnn<interpolation nearest>, midpoint = #gnn<interpolation midpoint>, lstm = #gnn<cell lstm>, gru = #gnn<cell gru>} : () -> ()
// CHECK-NEXT: %x, %y = "test.op"() : () -> (tensor<?x2xf32, #gnn.on<nodes "gr\C3\B6\C3\9Fe">>, tensor<2x?xi64, #gnn.on<edges "e">>)
