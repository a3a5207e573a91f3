"""Compiled kernels against the reference executor: aggregations, messages, widths and number types; row-wise work and
attention."""

from __future__ import annotations

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from kernel_cases import AGGREGATIONS, EPILOGUE, MESSAGES, PLAIN, Case, assert_close, case_of, parsed

from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.fused_executor import executor_with_kernels
from gnnc.targets.reference.interpreter import run_function

WIDTHS = (1, 3, 7, 16, 47, 100, 128, 1433)


def executor_of(case: Case) -> BatchedExecutor:
    executor = executor_with_kernels(case.module, case.weights)
    assert len(executor.kernels) == 1
    return executor


def run(case: Case, executor: BatchedExecutor, batch_size: int | None = None, threads: int = 1) -> torch.Tensor:
    counts = {"n": case.nodes}
    return executor.run(case.inputs, [case.set], counts, batch_size=batch_size, threads=threads)[0]


@settings(max_examples=30, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    message=st.sampled_from([m for m in MESSAGES if m != "gated"]),
    aggregation=st.sampled_from(AGGREGATIONS),
    width=st.sampled_from(WIDTHS),
    dtype=st.sampled_from(["f32", "f64"]),
    after=st.sampled_from([PLAIN, EPILOGUE]),
)
def test_kernels_compute_what_the_operations_say(
    message: str, aggregation: str, width: int, dtype: str, after: str
) -> None:
    case = case_of(message, aggregation, width, dtype, after)
    executor, expected = executor_of(case), case.reference()
    for batch_size in (None, 7):
        assert_close(run(case, executor, batch_size), expected)


@pytest.mark.parametrize("width", WIDTHS[:-1])
def test_every_width_without_luck(width: int) -> None:
    case = case_of("weighted by nodes", "sum", width, "f32", EPILOGUE)
    assert_close(run(case, executor_of(case)), case.reference())


def test_exponentials_in_messages() -> None:
    case = case_of("gated", "sum", 47, "f32")
    assert_close(run(case, executor_of(case)), case.reference())


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("nodes", [1, 3])
def test_few_nodes(aggregation: str, nodes: int) -> None:
    case = case_of("neighbor", aggregation, 16, "f32", nodes=nodes)
    assert_close(run(case, executor_of(case)), case.reference())


def test_no_edges() -> None:
    case = case_of("neighbor", "max", 16, "f32")
    case.edges = 0
    case.__post_init__()
    assert_close(run(case, executor_of(case)), case.reference())


def test_nan_and_infinity_are_kept() -> None:
    case = case_of("neighbor", "max", 16, "f32")
    case.inputs["x"][3] = torch.nan
    case.inputs["x"][4] = torch.inf
    result, expected = run(case, executor_of(case)), case.reference()
    assert torch.equal(result.isnan(), expected.isnan())
    assert torch.equal(result.isinf(), expected.isinf())


@pytest.mark.parametrize("threads", [2, 3])
def test_results_do_not_depend_on_threads(threads: int) -> None:
    case = case_of("weighted by nodes", "sum", 47, "f32", EPILOGUE, nodes=40_000)
    executor = executor_of(case)
    assert torch.equal(run(case, executor, threads=threads), run(case, executor))


ROWS = """
!n = tensor<?x{width}x{dtype}, #gnn.on<nodes "n">>
!c = tensor<?x1x{dtype}, #gnn.on<nodes "n">>
!b = tensor<{width}x{dtype}>
gnn.weight @bias : !b
func.func @structure() {{ func.return }}
func.func @forward(%nx: !n {{gnn.name = "x"}}, %nd: !c {{gnn.name = "d"}}) -> (!n, !c) {{
  %h, %k = gnn.conv_block layer 0 targets(%a = %nx : !n, %d = %nd : !c) -> (!n, !c) {{
    %bias = gnn.load_weight @bias : !b
    %p = gnn.add %a, %bias : !n, !b -> !n
    %q = gnn.mul %d, %p : !c, !n -> !n
    %r = gnn.leaky_relu %q slope 1.0e-01 : !n
    %s = gnn.rowwise "aten.sum.dim_IntList"(%r, [1], true) : (!n) -> !c
    %t = gnn.{last} %r : !n
    gnn.yield %t, %s : !n, !c
  }}
  func.return %h, %k : !n, !c
}}
"""

PROJECTION = """
!n = tensor<?x{flat}xf32, #gnn.on<nodes "n">>
!h = tensor<?x{heads}x{size}xf32, #gnn.on<nodes "n">>
!s = tensor<?x{heads}xf32, #gnn.on<nodes "n">>
!w = tensor<1x{heads}x{size}xf32>
gnn.weight @vectors : !w
func.func @structure() {{ func.return }}
func.func @forward(%nx: !n {{gnn.name = "x"}}) -> !s {{
  %r = gnn.conv_block layer 0 targets(%a = %nx : !n) -> (!s) {{
    %w = gnn.load_weight @vectors : !w
    %v = gnn.reshape %a : !n -> !h
    %m = gnn.mul %v, %w : !h, !w -> !h
    %s = gnn.rowwise "aten.sum.dim_IntList"(%m, [-1]) : (!h) -> !s
    gnn.yield %s : !s
  }}
  func.return %r : !s
}}
"""

ATTENTION = """
!o = {result}
!h = tensor<?x{heads}x{size}xf32, #gnn.on<nodes "n">>
!s = tensor<?x{heads}xf32, #gnn.on<nodes "n">>
!m = tensor<?x{heads}x{size}xf32, #gnn.on<edges "e">>
!t = tensor<?x{heads}xf32, #gnn.on<edges "e">>
!u = tensor<?x{heads}x1xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {{gnn.name = "i"}}) -> !e {{
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}}
func.func @forward(%nx: !h {{gnn.name = "x"}}, %np: !s {{gnn.name = "p"}}, %nq: !s {{gnn.name = "q"}},
    %set: !e {{gnn.structure = 0 : i64}}) -> !o {{
  %r = gnn.conv_block layer 1 neighbors(%x = %nx : !h, %p = %np : !s, %q = %nq : !s) structure(%e = %set : !e)
      -> (!o) {{
    %ps = gnn.gather %p at source of %e : !s, !e -> !t
    %qt = gnn.gather %q at target of %e : !s, !e -> !t
    %sum = gnn.add %ps, %qt : !t, !t -> !t
    %l = gnn.leaky_relu %sum slope 2.0e-01 : !t
    %w = gnn.edge_softmax %l at target of %e eps {eps} layer 1 conv 0 : !t, !e
    %xs = gnn.gather %x at source of %e : !h, !e -> !m
    %wu = gnn.reshape %w : !t -> !u
    %m = gnn.mul %wu, %xs : !u, !m -> !m
    %y = gnn.aggregate sum %m at target of %e layer 1 conv 0 : !m, !e -> !h
    %z = {last} : (!h) -> !o
    gnn.yield %z : !o
  }}
  func.return %r : !o
}}
"""


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_every_width(width: int, dtype: str) -> None:
    module = parsed(ROWS.format(width=width, dtype=dtype, last="exp" if dtype == "f32" else "relu"))
    torch.manual_seed(width)
    number = {"f32": torch.float32, "f64": torch.float64}[dtype]
    weights = {"bias": torch.randn(width, dtype=number)}
    executor = executor_with_kernels(module, weights)
    assert len(executor.kernels) == 1
    for nodes in (0, 1, 50):
        inputs = {"x": torch.randn(nodes, width, dtype=number), "d": torch.randn(nodes, 1, dtype=number)}
        expected = run_function(module, "forward", list(inputs.values()), weights, {"n": nodes})
        for threads, batch_size in ((1, None), (3, None), (2, 7)):
            results = executor.run(inputs, [], {"n": nodes}, threads=threads, batch_size=batch_size)
            for result, right in zip(results, expected, strict=True):
                assert result.shape == right.shape
                if nodes:
                    assert_close(result, right)


@pytest.mark.parametrize("number", ["i64", "f64", "i1"])
def test_what_is_given_in_another_type_is_no_part_of_a_kernel(number: str) -> None:
    text = ROWS.format(width=16, dtype="f32", last="exp")
    text = text.replace('%nd: !c {gnn.name = "d"}', f'%nd: tensor<?x1x{number}, #gnn.on<nodes "n">> {{gnn.name = "d"}}')
    text = text.replace("%d = %nd : !c)", f'%d = %nd : tensor<?x1x{number}, #gnn.on<nodes "n">>)')
    text = text.replace("%d, %p : !c, !n", f'%d, %p : tensor<?x1x{number}, #gnn.on<nodes "n">>, !n')
    module, weights = parsed(text), {"bias": torch.randn(16)}
    dtype = {"i64": torch.int64, "f64": torch.float64, "i1": torch.bool}[number]
    inputs = {"x": torch.randn(5, 16), "d": torch.ones(5, 1).to(dtype)}
    executor = executor_with_kernels(module, weights)
    expected = run_function(module, "forward", list(inputs.values()), weights, {"n": 5})
    assert_close(executor.run(inputs, [], {"n": 5})[0].float(), expected[0].float())


def test_rows_too_long_for_a_kernel_run_without() -> None:
    module = parsed(ROWS.format(width=20_000, dtype="f32", last="exp"))
    weights = {"bias": torch.randn(20_000)}
    executor = executor_with_kernels(module, weights)
    assert not executor.kernels
    inputs = {"x": torch.randn(3, 20_000), "d": torch.randn(3, 1)}
    expected = run_function(module, "forward", list(inputs.values()), weights, {"n": 3})
    assert_close(executor.run(inputs, [], {"n": 3})[0], expected[0])


@pytest.mark.parametrize(("heads", "size"), [(1, 1), (1, 47), (2, 64), (3, 5), (8, 7), (8, 16), (20, 3)])
def test_projections_of_heads(heads: int, size: int) -> None:
    module = parsed(PROJECTION.format(heads=heads, size=size, flat=heads * size))
    torch.manual_seed(heads)
    weights, x = {"vectors": torch.randn(1, heads, size)}, torch.randn(40, heads * size)
    executor = executor_with_kernels(module, weights)
    assert len(executor.kernels) == 1
    expected = run_function(module, "forward", [x], weights, {"n": 40})[0]
    assert_close(executor.run({"x": x}, [], {"n": 40})[0], expected)


ATTENTION_RESULTS = {
    "heads": ("<?x{heads}x{size}xf32", '"gnn.relu"(%y)'),
    "side by side": ("<?x{flat}xf32", '"gnn.reshape"(%y)'),
    "mean": ("<?x{size}xf32", 'gnn.rowwise "aten.mean.dim"(%y, [1], false)'),
}


@pytest.mark.parametrize("eps", ["0.0", "1.0e-16"])
@pytest.mark.parametrize("result", list(ATTENTION_RESULTS))
@pytest.mark.parametrize(
    ("heads", "size"),
    [
        *[(1, 16), (2, 64), (3, 1), (2, 4), (4, 5), (5, 40), (8, 2), (8, 7), (8, 16), (16, 2), (20, 3)],
        *[(2, 47), (2, 17), (3, 11), (3, 13), (4, 33), (5, 9), (6, 20), (17, 3)],  # a vector has lanes of two heads
        (3, 42),  # the vectors that a piece of the second head lies in are needed in another order
    ],
)
def test_attention_of_many_heads(heads: int, size: int, result: str, eps: str) -> None:
    """Vectors hold several small heads, or a part of one; rows have no edge, a few, or more than a chunk."""
    shape, last = ATTENTION_RESULTS[result]
    shape = f'tensor{shape.format(heads=heads, size=size, flat=heads * size)}, #gnn.on<nodes "n">>'
    module = parsed(ATTENTION.format(heads=heads, size=size, eps=eps, result=shape, last=last))
    torch.manual_seed(heads + size)
    nodes, count = 60, 300
    ends = torch.randint(0, nodes - 5, (2, count))
    ends[1, :50] = 3
    edges = EdgeSet(ends[0], ends[1], nodes, nodes)
    inputs = {
        "x": torch.randn(nodes, heads, size),
        "p": 30 * torch.randn(nodes, heads),
        "q": 30 * torch.randn(nodes, heads),
    }
    executor = executor_with_kernels(module, {})
    assert len(executor.kernels) == 1
    expected = run_function(module, "forward", [*inputs.values(), edges], {}, {"n": nodes})[0]
    for batch_size in (None, 7):
        computed = executor.run(inputs, [edges], {"n": nodes}, batch_size=batch_size)[0]
        assert_close(computed, expected)
        assert not computed[-5:].any()
