"""Draws the pictures of docs/fpga.md from simulations of the trained GCN on Cora.

python -m benchmarks.fpga_pictures
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gnnc
from benchmarks.exactness import load_trained_model
from gnnc.fpga_compile import compile_for_fpga
from gnnc.fpga_program import FpgaProgram
from gnnc.targets.fpga.pictures import density_map, primitive_map, timeline
from gnnc.targets.fpga.reordering import permuted
from gnnc.targets.fpga.simulator import Setting, simulate

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURES = DOCS / "pictures"


def cora() -> FpgaProgram:
    trained = load_trained_model(DOCS.parent / "examples" / "data", "cora", "gcn")
    x = np.asarray(trained.graph.x)
    graph = gnnc.Graph(x=x / np.maximum(x.sum(1, keepdims=True), 1), edge_index=np.asarray(trained.graph.edge_index))
    return compile_for_fpga(trained.model.get_submodule("model"), graph, order="AH_W")


def draw(name: str, svg: str) -> None:
    """An SVG file of its own needs its namespace."""
    svg = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" style="background:#f6f7f8" ', 1)
    (PICTURES / f"{name}.svg").write_text(svg + "\n", encoding="utf-8")


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    program = cora()
    graph = program.graph_for(None)
    run = simulate(program.numbers(graph), program.plan, program.architecture, Setting())
    draw("cora-adjacency", density_map(run.kernels[0].products[0].x))
    draw("cora-primitives", primitive_map(run, run.kernels[1], run.kernels[1].products[0]))
    draw("cora-cores-literal", timeline(run))
    lean = simulate(program.numbers(graph), program.plan, program.architecture, Setting(loads="lean"))
    draw("cora-cores-lean", timeline(lean))
    order = permuted("community", *program.edges_of(graph), graph.num_nodes)
    ordered = simulate(program.numbers(graph, order), program.plan, program.architecture, Setting())
    draw("cora-adjacency-community", density_map(ordered.kernels[0].products[0].x))


if __name__ == "__main__":
    main()
