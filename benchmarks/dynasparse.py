"""The FPGA target on the graphs and models of the Dynasparse paper: cycles, bytes, speed-ups. Uncalibrated.

    python -m benchmarks.dynasparse FOLDER [--graph cora ...] [--model gcn ...] [--prune 0 50 ...] -o results.jsonl
    python -m benchmarks.dynasparse --tables results.jsonl > docs/fpga-results.md

FOLDER holds `node/GRAPH.npz` and `weights/`. Graphs `flickr` and `reddit` are synthetic, of the published sizes times
--scale. Each graph and model is a process of its own, so that none can fail another; outputs are compared before
anything counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch_geometric.nn import SGConv
from torch_geometric.nn.models import GCN, GIN, GraphSAGE

import gnnc
from benchmarks.dynasparse_tables import tables
from benchmarks.synthetic_graphs import SHAPES, synthetic_graph
from gnnc.fpga_compile import compile_for_fpga
from gnnc.fpga_program import FpgaProgram
from gnnc.passes.analysis.linear_forms import Order
from gnnc.targets.fpga.pairs import Mapping
from gnnc.targets.fpga.plan import Plan
from gnnc.targets.fpga.reordering import Reordering, restored
from gnnc.targets.fpga.search import best_partition
from gnnc.targets.fpga.simulator import Setting, Simulation, simulate
from gnnc.targets.fpga.values import Numbers

GRAPHS = ("citeseer", "cora", "pubmed", "nell", "flickr", "reddit")
STATIC: tuple[Mapping, ...] = ("s1", "s2")
ORDERS: tuple[Order, ...] = ("AH_W", "A_HW")
MODELS: dict[str, Callable[[int, int, int], torch.nn.Module]] = {
    "gcn": lambda f, h, c: GCN(f, h, 2, c),
    "sage": lambda f, h, c: GraphSAGE(f, h, 2, c, aggr="mean"),
    "gin": lambda f, h, c: GIN(f, h, 2, c),
    "sgc": lambda f, h, c: SGConv(f, c, K=2),
}
REORDER_LIMIT = 1_000_000  # edges of a graph whose nodes are tried in all orders
SEARCH_LIMIT = 20_000_000  # edges of a graph whose tiles of all sizes are tried
MESSAGE_LIMIT = 4 << 30  # bytes of the messages that PyG keeps, one an edge


def graph_of(name: str, folder: Path, scale: float) -> gnnc.Graph:
    """A graph with its features divided by their sum, as the weights were trained; the synthetic ones as they are."""
    if name in SHAPES:
        return synthetic_graph(name, scale)
    graph = gnnc.Graph.load(folder / "node" / f"{name}.npz")
    x = graph.stored_x
    if name != "nell":
        dense = np.asarray(graph.x)
        x = dense / np.maximum(dense.sum(1, keepdims=True), 1)
    return gnnc.Graph(x=x, edge_index=np.asarray(graph.edge_index), y=np.asarray(graph.y))


def model_of(name: str, kind: str, graph: gnnc.Graph, folder: Path) -> torch.nn.Module:
    """A trained model where there are weights, a random one otherwise."""
    features, classes = graph.stored_x.shape[1], int(np.asarray(graph.y).max()) + 1
    small = name in ("cora", "citeseer", "pubmed")
    hidden = (64 if kind == "sage" else 16) if small else 128
    torch.manual_seed(0)
    model = MODELS[kind](features, hidden, classes).eval()
    weights = folder / "weights" / f"{name}-{kind}.safetensors"
    if weights.is_file():
        model.load_state_dict(load_file(weights))
    return model


def pruned_weight(weight: torch.Tensor, percent: int) -> torch.Tensor:
    """A weight with so many percent of its numbers at zero, the smallest ones; a bias as it is."""
    if weight.dim() != 2 or not percent:
        return weight
    limit = weight.abs().flatten().kthvalue(max(1, weight.numel() * percent // 100)).values
    return torch.where(weight.abs() <= limit, 0, weight)


def run_cases(
    name: str, kind: str, orders: list[Order], levels: list[int], folder: Path, scale: float
) -> Iterator[dict[str, Any]]:
    """All figures of a model on a graph, a case for each order of products and each share of weights at zero."""
    graph = graph_of(name, folder, scale)
    model = model_of(name, kind, graph, folder)
    seconds = cpu_seconds(model, graph) if name != "nell" and 0 in levels else {}
    for order in orders:
        compiled = compile_for_fpga(model, graph, order=order)
        sizes, reorder = our_choice(compiled, graph)
        inputs = [InputWork(), InputWork()]  # in the graph's order, and in ours
        for pruned in levels:
            program = compiled.with_weights({n: pruned_weight(w, pruned) for n, w in compiled.weights.items()})
            result = run_case(program, graph, sizes, reorder, inputs)
            if not pruned:
                result |= {"preprocessing": preprocessing(program, graph), "seconds": seconds}
            case = {"graph": name, "model": kind, "order": order, "pruned": pruned}
            yield {**case, "scale": scale if name in SHAPES else 1, **result}


class InputWork:
    """What depends on the graph and its features alone, of which programs with other weights share one: adjacency
    matrices, products before the first weight, and what is counted of them."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}

    def lend(self, numbers: Numbers) -> None:
        numbers.kept.update(self.kept)

    def keep(self, numbers: Numbers) -> None:
        places = without_weights(numbers.plan)
        self.kept.update({key: value for key, value in numbers.kept.items() if key[1] in places})


def without_weights(plan: Plan) -> set[int]:
    """The operands that no weight has any part in. All keys of what Numbers keep have an operand in second place."""
    found = {place for place, operand in enumerate(plan.operands) if operand.role in ("adjacency", "features")}
    for k in plan.kernels:
        taken = {p for pair in k.products for p in pair} | {*k.addends, *k.residuals}
        if taken <= found and k.scale is None and k.bias is None:
            found.add(k.output)
    return found


def run_case(
    program: FpgaProgram,
    graph: gnnc.Graph,
    sizes: tuple[int, int],
    reorder: Reordering,
    inputs: Sequence[InputWork],
) -> dict[str, Any]:
    """All figures of one case; `sizes` and `reorder` are what `ours` runs with."""
    settings = {
        f"{loads} {mapping}": Setting(mapping, loads)
        for loads in ("literal", "resident", "lean")
        for mapping in ("s1", "s2", "dynamic")
    }
    settings |= {f"literal {mapping} unskipped": Setting(mapping, skip_empty=False) for mapping in STATIC}
    begin = time.perf_counter()
    numbers = program.numbers(graph)
    inputs[0].lend(numbers)
    literal = simulate(numbers, program.plan, program.architecture, Setting(), count_spmm=True)
    seconds = time.perf_counter() - begin
    runs = {key: simulate(numbers, program.plan, program.architecture, setting) for key, setting in settings.items()}
    expected = [tensor.numpy() for tensor in program.expected(graph, numbers)]
    inputs[0].keep(numbers)
    numbers, order = program.numbers_in_order(graph, reorder)
    inputs[1].lend(numbers)
    ours = simulate(numbers, program.plan.repartitioned(*sizes), program.architecture, Setting(loads="lean"))
    inputs[1].keep(numbers)
    outputs = [restored(output, order) for output in ours.outputs]
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "n1": program.plan.n1,
        "n2": program.plan.n2,
        "error": max(largest_error(literal.outputs, expected), largest_error(outputs, expected)),
        "runs": {key: figures(run) for key, run in {**runs, "ours": ours}.items()},
        "reorder": reorder,
        "padded": float(literal.padded_cycles),
        "spmm": {"expected": literal.spmm.expected, "actual": literal.spmm.actual},
        "simulation_seconds": seconds,
    }


def our_choice(program: FpgaProgram, graph: gnnc.Graph) -> tuple[tuple[int, int], Reordering]:
    """The partition sizes that a search finds for lean loads, those of Algorithm 9 where it would take too long, and
    the fastest order of the nodes where all can be tried. Pruned weights run with what is found for trained ones."""
    if graph.num_edges > SEARCH_LIMIT:
        return (program.plan.n1, program.plan.n2), "none"
    sizes = best_partition(program.numbers(graph), program.plan, program.architecture)
    if graph.num_edges > REORDER_LIMIT:
        return sizes, "none"
    return sizes, program.repartitioned(*sizes).fastest_order(graph, Setting(loads="lean"))


def largest_error(outputs: Sequence[Any], expected: Sequence[Any]) -> float:
    """The largest difference, over the largest number that is expected."""
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(outputs, expected, strict=True))


def figures(run: Simulation) -> dict[str, Any]:
    return {
        "n1": run.plan.n1,
        "n2": run.plan.n2,
        "cycles": run.cycles,
        "compute_cycles": float(run.compute_cycles),
        "bytes": run.bytes,
        "floor": run.floor(),
        "bounds": run.bounds(),
        "decisions": sum(k.decisions.count for k in run.kernels),
        "analyzer_cycles": float(sum(k.decisions.cycles for k in run.kernels)),
        "exposed_cycles": float(sum(min(k.decisions.cycles, k.decisions.exposed) for k in run.kernels)),
        "milliseconds": run.architecture.milliseconds(run.cycles),
    }


def preprocessing(program: FpgaProgram, graph: gnnc.Graph) -> dict[str, float]:
    """Seconds to write the stream, its bytes, and milliseconds to bring it to the board."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stream.bin"
        numbers = program.numbers(graph)
        known = [place for place, o in enumerate(program.plan.operands) if o.role != "intermediate"]
        matrices = {place: numbers.matrix(place) for place in known}
        begin = time.perf_counter()
        program.write_matrices(file, matrices)
        seconds, size = time.perf_counter() - begin, file.stat().st_size
    transfer = size / float(program.architecture.pcie_gb_per_s) / 1e6
    return {"seconds": seconds, "bytes": size, "transfer_milliseconds": transfer}


def cpu_seconds(model: torch.nn.Module, graph: gnnc.Graph, repeats: int = 3) -> dict[str, float]:
    """The fastest of a few runs of PyG and of gnnc's batched executor, turn by turn; PyG only where the messages of a
    layer, one an edge, are no more than MESSAGE_LIMIT."""
    x, edge_index = torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)
    program = gnnc.compile(model, graph)

    def eager() -> None:
        with torch.no_grad():
            model(x, edge_index)

    timed: dict[str, Callable[[], object]] = {"gnnc": program.run}
    width = 128 if isinstance(model, GCN) else x.shape[1]
    if 4 * width * graph.num_edges <= MESSAGE_LIMIT:
        timed["pyg"] = eager
    best = dict.fromkeys(timed, float("inf"))
    for _ in range(repeats):
        for name, call in timed.items():
            begin = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def run_apart(group: dict[str, Any], folder: Path, scale: float) -> Iterator[dict[str, Any]]:
    """The cases of a graph and model in a process of its own, as they are done; its failure is its result."""
    command = [sys.executable, "-m", "benchmarks.dynasparse", str(folder), "--group", json.dumps(group)]
    with subprocess.Popen(
        [*command, "--scale", str(scale)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            yield json.loads(line)
        errors = process.stderr.read().strip().splitlines()
    if process.returncode:
        yield {**group, "failed": (errors or [f"exit code {process.returncode}"])[-1]}


def main() -> int:
    parser = argparse.ArgumentParser(description="The FPGA target on Dynasparse's graphs and models.")
    parser.add_argument("folder", type=Path, nargs="?", help="folder with node/ and weights/")
    parser.add_argument("--graph", nargs="+", default=list(GRAPHS), choices=GRAPHS)
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--order", nargs="+", default=list(ORDERS), choices=ORDERS)
    parser.add_argument("--prune", nargs="+", type=int, default=[0], help="percent of the weights at zero")
    parser.add_argument("--scale", type=float, default=1.0, help="of the synthetic graphs")
    parser.add_argument("-o", "--output", type=Path, help="where to add results, a line each")
    parser.add_argument("--tables", type=Path, nargs="+", help="print the tables of results instead")
    parser.add_argument("--group", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.tables:
        lines = [line for file in arguments.tables for line in file.read_text().splitlines()]
        print(tables([json.loads(line) for line in lines]), end="")
        return 0
    if arguments.group:
        g = arguments.group
        for result in run_cases(g["graph"], g["model"], g["orders"], g["levels"], arguments.folder, arguments.scale):
            print(json.dumps(result), flush=True)
        return 0
    failed = 0
    for graph, model in ((g, m) for g in arguments.graph for m in arguments.model):
        group = {"graph": graph, "model": model, "orders": arguments.order, "levels": arguments.prune}
        for result in run_apart(group, arguments.folder, arguments.scale):
            failed += "failed" in result or result["error"] > 1e-4
            print(summary(result), flush=True)
            if arguments.output:
                with arguments.output.open("a") as file:
                    file.write(json.dumps(result) + "\n")
    return 1 if failed else 0


def summary(result: dict[str, Any]) -> str:
    """One line a case."""
    if "failed" in result:
        return f"{result['graph']:9} {result['model']:5} FAILED: {result['failed']}"
    head = f"{result['graph']:9} {result['model']:5} {result['order']:5} pruned {result['pruned']:2}%"
    runs = result["runs"]
    ours, literal, resident = runs["ours"], runs["literal dynamic"], runs["resident dynamic"]
    return (
        f"{head}  error {result['error']:.0e}  ours {ours['cycles']:>11,}  literal/ours "
        f"{literal['cycles'] / ours['cycles']:7.1f}  resident/ours {resident['cycles'] / ours['cycles']:7.1f}  "
        f"ours/floor {ours['cycles'] / ours['floor']:.2f}  {result['reorder']}"
    )


if __name__ == "__main__":
    sys.exit(main())
