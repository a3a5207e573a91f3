"""The FPGA target on the graphs and models of the Dynasparse paper: cycles, bytes, speed-ups. Uncalibrated.

    python -m benchmarks.dynasparse FOLDER [--graph cora ...] [--model gcn ...] [--prune 0 50 ...] -o results.jsonl
    python -m benchmarks.dynasparse --tables results.jsonl > docs/fpga-results.md

FOLDER holds `node/GRAPH.npz` and `weights/`. Graphs `flickr` and `reddit` are synthetic, of the published sizes times
--scale. Each case is a process of its own, so that no case can fail another; outputs are compared before anything
counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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
from gnnc.fpga_program import FpgaProgram, compile_for_fpga
from gnnc.passes.analysis.linear_forms import Order
from gnnc.targets.fpga.pairs import static_cycles
from gnnc.targets.fpga.reordering import REORDERINGS, Reordering
from gnnc.targets.fpga.search import best_partition
from gnnc.targets.fpga.simulator import Setting, Simulation, simulate

GRAPHS = ("citeseer", "cora", "pubmed", "nell", "flickr", "reddit")
ORDERS: tuple[Order, ...] = ("AH_W", "A_HW")
MODELS: dict[str, Callable[[int, int, int], torch.nn.Module]] = {
    "gcn": lambda f, h, c: GCN(f, h, 2, c),
    "sage": lambda f, h, c: GraphSAGE(f, h, 2, c, aggr="mean"),
    "gin": lambda f, h, c: GIN(f, h, 2, c),
    "sgc": lambda f, h, c: SGConv(f, c, K=2),
}
# what a case may take to try all orders of the nodes
REORDER_LIMIT = 100_000  # edges


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


def model_of(name: str, kind: str, graph: gnnc.Graph, folder: Path, pruned: int) -> torch.nn.Module:
    """A trained model where there are weights, a random one otherwise, with `pruned` percent of each weight at zero."""
    features, classes = graph.stored_x.shape[1], int(np.asarray(graph.y).max()) + 1
    small = name in ("cora", "citeseer", "pubmed")
    hidden = (64 if kind == "sage" else 16) if small else 128
    torch.manual_seed(0)
    model = MODELS[kind](features, hidden, classes).eval()
    weights = folder / "weights" / f"{name}-{kind}.safetensors"
    if weights.is_file():
        model.load_state_dict(load_file(weights))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2 and pruned:
                limit = parameter.abs().flatten().kthvalue(max(1, parameter.numel() * pruned // 100)).values
                parameter[parameter.abs() <= limit] = 0
    return model


def run_case(name: str, kind: str, order: Order, pruned: int, folder: Path, scale: float) -> dict[str, Any]:
    """All figures of one case."""
    graph = graph_of(name, folder, scale)
    model = model_of(name, kind, graph, folder, pruned)
    program = compile_for_fpga(model, graph, order=order)
    numbers = program.numbers(graph)
    settings = {
        f"{loads} {mapping}": Setting(mapping, loads)
        for loads in ("literal", "resident", "lean")
        for mapping in ("s1", "s2", "dynamic")
    }
    runs = {key: simulate(numbers, program.plan, program.architecture, setting) for key, setting in settings.items()}
    ours, reorder = our_run(program, graph)
    result: dict[str, Any] = {
        "graph": name,
        "model": kind,
        "order": order,
        "pruned": pruned,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "scale": scale if name in SHAPES else 1,
        "n1": program.plan.n1,
        "n2": program.plan.n2,
        "error": error_of(program, graph, [*runs.values(), ours], reorder),
        "runs": {key: figures(run) for key, run in {**runs, "ours": ours}.items()},
        "reorder": reorder,
        "no skipping": {mapping: unskipped(runs["literal s1"], mapping) for mapping in ("s1", "s2")},
    }
    if not pruned:
        result["preprocessing"] = preprocessing(program, graph)
        result["seconds"] = cpu_seconds(model, graph) if name != "nell" else {}
    return result


def our_run(program: FpgaProgram, graph: gnnc.Graph) -> tuple[Simulation, Reordering]:
    """Lean loads with the sizes that a search finds, in the fastest order of the nodes where all can be tried."""
    setting = Setting(loads="lean")
    sizes = best_partition(program.numbers(graph), program.plan, program.architecture)
    searched = program.repartitioned(*sizes)
    methods = REORDERINGS if graph.num_edges <= REORDER_LIMIT else REORDERINGS[:1]
    runs: dict[Reordering, Simulation] = {m: searched.simulate_once(graph, setting, m)[0] for m in methods}
    fastest = min(runs, key=lambda method: runs[method].cycles)
    return runs[fastest], fastest


def unskipped(run: Simulation, mapping: Any) -> float:
    p = run.architecture.p_sys
    return float(sum(static_cycles(k.products, mapping, k.kernel.kind, p) for k in run.kernels))


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


def error_of(program: FpgaProgram, graph: gnnc.Graph, runs: list[Simulation], reorder: Reordering) -> float:
    """The largest error against the reference, over the largest output. The last run is in its own order of nodes."""
    checked = [program.compared(graph, run.outputs) for run in (runs[0], runs[-2])]
    checked.append(program.simulate(graph, setting=runs[-1].setting, reorder=reorder).verification)
    return max(output.relative for verification in checked for output in verification.outputs)


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
    """The fastest of a few runs of PyG and of gnnc's batched executor, turn by turn."""
    x, edge_index = torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)
    program = gnnc.compile(model, graph)

    def eager() -> None:
        with torch.no_grad():
            model(x, edge_index)

    timed: dict[str, Callable[[], object]] = {"pyg": eager, "gnnc": program.run}
    best = dict.fromkeys(timed, float("inf"))
    for _ in range(repeats):
        for name, call in timed.items():
            begin = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def run_apart(case: dict[str, Any], folder: Path, scale: float) -> dict[str, Any]:
    """A case in a process of its own; its failure is its result."""
    command = [sys.executable, "-m", "benchmarks.dynasparse", str(folder), "--case", json.dumps(case)]
    done = subprocess.run([*command, "--scale", str(scale)], capture_output=True, text=True, check=False)
    if done.returncode:
        return {**case, "failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


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
    parser.add_argument("--case", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.tables:
        lines = [line for file in arguments.tables for line in file.read_text().splitlines()]
        print(tables([json.loads(line) for line in lines]), end="")
        return 0
    if arguments.case:
        c = arguments.case
        result = run_case(c["graph"], c["model"], c["order"], c["pruned"], arguments.folder, arguments.scale)
        print(json.dumps(result))
        return 0
    failed = 0
    for graph, pruned, model, order in (
        (g, s, m, o) for g in arguments.graph for s in arguments.prune for m in arguments.model for o in arguments.order
    ):
        case = {"graph": graph, "model": model, "order": order, "pruned": pruned}
        result = run_apart(case, arguments.folder, arguments.scale)
        failed += "failed" in result or result["error"] > 1e-4
        print(summary(result), flush=True)
        if arguments.output:
            with arguments.output.open("a") as file:
                file.write(json.dumps(result) + "\n")
    return 1 if failed else 0


def summary(result: dict[str, Any]) -> str:
    """One line a case."""
    head = f"{result['graph']:9} {result['model']:5} {result['order']:5} pruned {result['pruned']:2}%"
    if "failed" in result:
        return f"{head}  FAILED: {result['failed']}"
    runs = result["runs"]
    ours, literal, resident = runs["ours"], runs["literal dynamic"], runs["resident dynamic"]
    return (
        f"{head}  error {result['error']:.0e}  ours {ours['cycles']:>11,}  literal/ours "
        f"{literal['cycles'] / ours['cycles']:7.1f}  resident/ours {resident['cycles'] / ours['cycles']:7.1f}  "
        f"ours/floor {ours['cycles'] / ours['floor']:.2f}  {result['reorder']}"
    )


if __name__ == "__main__":
    sys.exit(main())
