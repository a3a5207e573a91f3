"""Kernels for CUDA against the reference executor: in a stand-in for Triton, in Triton's own interpreter where that is
installed, and compiled for a GPU that need not be there."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Generator
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from kernel_cases import AGGREGATIONS, EPILOGUE, MESSAGES, PLAIN, Case, assert_close, case_of
from torch import nn
from torch_geometric.nn import GATConv, GATv2Conv, SAGEConv, TransformerConv
from torch_geometric.nn.models import GCN
from triton_stand_in import triton_stand_in

import gnnc
from gnnc.passes.gnn_narrow_storage import Precision
from gnnc.stages import stage_text
from gnnc.targets.gpu import device_csr
from gnnc.targets.gpu.fused_executor import executor_on_device
from gnnc.targets.gpu.triton_kernels.kernel import TritonKernel

WIDTHS = (1, 3, 7, 16, 47, 100, 128, 1433)
DEVICE = "cpu:0"
"""What is not called cpu is a device to gnnc."""

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")


@pytest.fixture
def stand_in() -> Generator[None]:
    with triton_stand_in():
        yield


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with more than four edges are hubs."""
    monkeypatch.setattr(device_csr, "PART_EDGES", 4)


def run(case: Case, batch_size: int | None = None) -> torch.Tensor:
    executor = executor_on_device(case.module, case.weights, DEVICE)
    assert len(executor.kernels) == 1
    return executor.run(case.inputs, [case.set], {"n": case.nodes}, batch_size=batch_size, device=DEVICE)[0]


CASES = {
    "message": st.sampled_from(list(MESSAGES)),
    "aggregation": st.sampled_from(AGGREGATIONS),
    "width": st.sampled_from(WIDTHS),
    "dtype": st.sampled_from(["f32", "f64"]),
    "after": st.sampled_from([PLAIN, EPILOGUE]),
    "batch_size": st.sampled_from([None, 5]),
    "part": st.sampled_from([4, 1024]),
}


def check(
    message: str, aggregation: str, width: int, dtype: str, after: str, batch_size: int | None, part: int
) -> None:
    case = case_of(message, aggregation, width, dtype, after, nodes=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_csr, "PART_EDGES", part)
        assert_close(run(case, batch_size), case.reference())


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(**CASES)
def test_kernels_compute_what_the_operations_say(
    message: str, aggregation: str, width: int, dtype: str, after: str, batch_size: int | None, part: int
) -> None:
    with triton_stand_in():
        check(message, aggregation, width, dtype, after, batch_size, part)


@needs_triton
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(**{**CASES, "width": st.sampled_from(WIDTHS[:-1])})
def test_triton_agrees(
    message: str, aggregation: str, width: int, dtype: str, after: str, batch_size: int | None, part: int
) -> None:
    check(message, aggregation, width, dtype, after, batch_size, part)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_without_luck(width: int, stand_in: None, small_parts: None) -> None:
    case = case_of("weighted by nodes", "sum", width, "f32", EPILOGUE, nodes=8)
    assert_close(run(case), case.reference())


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("nodes", [1, 3])
def test_few_nodes(aggregation: str, nodes: int, stand_in: None) -> None:
    case = case_of("neighbor", aggregation, 16, "f32", nodes=nodes)
    assert_close(run(case), case.reference())


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_no_edges(aggregation: str, stand_in: None) -> None:
    case = case_of("edge rows", aggregation, 16, "f32")
    case.edges = 0
    case.__post_init__()
    assert_close(run(case), case.reference())


@pytest.mark.parametrize("aggregation", ["max", "min"])
def test_nan_and_infinity_are_kept(aggregation: str, stand_in: None, small_parts: None) -> None:
    case = case_of("neighbor", aggregation, 16, "f32")
    case.inputs["x"][3] = torch.nan
    case.inputs["x"][4] = torch.inf
    result, expected = run(case), case.reference()
    assert torch.equal(result.isnan(), expected.isnan())
    assert torch.equal(result.isinf(), expected.isinf())


# Attention, and sums over the numbers of a row.

CONVS: dict[str, Callable[[], nn.Module]] = {
    "one head": lambda: GATConv(6, 20),
    "heads": lambda: GATConv(6, 17, heads=3),
    "narrow heads": lambda: GATConv(6, 4, heads=3),
    "mean over heads": lambda: GATConv(6, 5, heads=2, concat=False),
    "wide heads": lambda: GATConv(6, 300, heads=2),
    "v2": lambda: GATv2Conv(6, 16, heads=2),
    "v2, narrow heads": lambda: GATv2Conv(6, 3, heads=2),
    "products": lambda: TransformerConv(6, 16, heads=2),
    "normalised": lambda: SAGEConv(6, 24, normalize=True),
    "softmax by number": lambda: SAGEConv(6, 9, aggr="softmax"),
}


def conv_and_graph(name: str) -> tuple[nn.Module, gnnc.Graph]:
    torch.manual_seed(len(name))
    edge_index = torch.randint(0, 10, (2, 40))
    edge_index[1, :12] = 4  # a hub
    return CONVS[name]().eval(), gnnc.Graph(x=torch.randn(12, 6), edge_index=edge_index)


def check_conv(name: str) -> None:
    conv, graph = conv_and_graph(name)
    program = gnnc.compile(conv, graph)
    assert program.executor(DEVICE).kernels
    with torch.no_grad():
        expected = conv(graph.x, graph.edge_index)
    for batch_size in (None, 5):
        assert torch.allclose(program.run(device=DEVICE, batch_size=batch_size), expected, atol=1e-5)


@pytest.mark.parametrize("name", list(CONVS))
def test_convs(name: str, stand_in: None, small_parts: None) -> None:
    check_conv(name)


@needs_triton
@pytest.mark.parametrize("name", ["heads", "v2", "normalised"])
def test_triton_agrees_on_convs(name: str, small_parts: None) -> None:
    check_conv(name)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_numbers_of_16_bits(precision: Precision, stand_in: None, small_parts: None) -> None:
    """As the CPU stores them: what differs is the order of sums."""
    _, graph = conv_and_graph("heads")
    program = gnnc.compile(GCN(6, 16, 2, 5).eval(), graph, precision=precision)
    assert any("float16" in text or "bfloat16" in text for text in texts(program))
    expected = program.run()
    assert torch.allclose(program.run(device=DEVICE), expected, atol=2e-2 * float(expected.abs().max()))


# The text.


def texts(program: gnnc.Program) -> list[str]:
    kernels = program.executor(DEVICE).kernels.values()
    return [kernel.source.text for kernel in kernels if isinstance(kernel, TritonKernel)]


def test_the_text_is_a_stage_of_the_code() -> None:
    conv, graph = conv_and_graph("heads")
    text = stage_text(gnnc.compile(conv, graph).module, "triton")
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == ["rows_0", "parts_0", "hubs_0"]
    # one program a row and head; the score is one number an edge, and the row's own part of it is loaded once
    loop = text[text.index("for start in range") :]
    assert "v2 = tl.load(a1 + row * 3 + i2)" in text[: text.index("for start in range")]
    assert "v1 = tl.load(a0 + neighbor * 3 + i2, mask=on, other=0.0)" in loop


def test_without_triton_torch_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET")
    conv, graph = conv_and_graph("heads")
    program = gnnc.compile(conv, graph)
    assert not program.executor(DEVICE).kernels
    with torch.no_grad():
        expected = conv(graph.x, graph.edge_index)
    assert torch.allclose(program.run(device=DEVICE, batch_size=5), expected, atol=1e-5)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.warns(UserWarning, match="triton is not installed"):
        assert not executor_on_device(program.module, program.weights, "cuda").kernels


COMPILED = """
import re, subprocess, sys, tempfile
from pathlib import Path
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from gnnc.targets.gpu.triton_kernels.kernel import module_of

tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
lists = ("offsets", "neighbors", "part_rows", "part_firsts", "hub_rows", "hub_parts")

def usage(kernel, warps):
    signature = {n: "i32" if n == "limit" else "*i32" if n in lists else "*fp32" for n in kernel.arg_names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(kernel.arg_names) if n != "limit"}
    options = {"num_warps": warps, "enable_fp_fusion": True}
    made = triton.compile(ASTSource(kernel, signature, {}, aligned), target=GPUTarget("cuda", 90, 32), options=options)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made.asm["cubin"])
        file.flush()
        text = subprocess.run([tools / "cuobjdump", "-res-usage", file.name], capture_output=True, text=True).stdout
    return re.findall(r"(?:REG|STACK|LOCAL):[0-9]+", text)

for file, warps in zip(sys.argv[1::2], map(int, sys.argv[2::2]), strict=True):
    module = module_of(Path(file).read_text())
    for kernel in (module.rows_0, module.parts_0, module.hubs_0):
        print(file, kernel.__name__, usage(kernel, warps))
"""


@needs_triton
def test_triton_compiles_them_for_hopper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU; nothing that is summed up leaves the registers."""
    monkeypatch.delenv("TRITON_INTERPRET")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    arguments: list[str] = []
    for name in ("heads", "v2", "normalised"):
        program = gnnc.compile(*conv_and_graph(name))
        (kernel,) = executor_on_device(program.module, program.weights, "cuda").kernels.values()
        assert isinstance(kernel, TritonKernel)
        file = tmp_path / f"{name}.py"
        file.write_text(kernel.source.text, encoding="utf-8")
        arguments += [str(file), str(kernel.source.launches[0].warps)]
    done = subprocess.run([sys.executable, "-c", COMPILED, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'STACK:0', 'LOCAL:0'") == 9, done.stdout
