"""The primitives, executed multiply by multiply, against the fast path: all pairs on karate, samples on Cora."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from fpga_programs import DATA, numbers_of, trained_program
from torch_geometric.nn.models import GCN

import gnnc
from gnnc.fpga_compile import compile_for_fpga
from gnnc.fpga_program import FpgaProgram
from gnnc.passes.analysis.primitives import Primitive
from gnnc.targets.fpga.literal import execute, execute_task
from gnnc.targets.fpga.simulator import Setting, Simulator
from gnnc.targets.fpga.values import Numbers, as_dense

MODES = (Primitive.GEMM, Primitive.SPDMM_X, Primitive.SPDMM_Y, Primitive.SPMM)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_multiplies(mode: Primitive) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.random((5, 7)).astype(np.float32), generator.random((7, 3)).astype(np.float32)
    x[x < 0.6], y[y < 0.3] = 0, 0
    done = execute(mode, x, y)
    np.testing.assert_allclose(done.product, x.astype(np.float64) @ y, rtol=1e-12)
    expected = {
        Primitive.GEMM: 5 * 7 * 3,
        Primitive.SPDMM_X: np.count_nonzero(x) * 3,
        Primitive.SPDMM_Y: np.count_nonzero(y) * 5,
        Primitive.SPMM: int(((x != 0).sum(0) * (y != 0).sum(1)).sum()),
    }
    assert done.macs == expected[mode]
    assert execute(Primitive.SKIP, x, y).macs == 0


def check_tasks(program: FpgaProgram, numbers: Numbers, most: int) -> int:
    """Compares tasks of every product with the product of the fast path; returns how many."""
    simulator = Simulator(numbers, program.plan, program.architecture, Setting())
    generator, compared = random.Random(0), 0
    for kernel in program.plan.kernels:
        simulator.run_kernel(kernel)
        m, n = kernel.height(program.plan.n1, program.plan.n2), kernel.inner(program.plan.n1, program.plan.n2)
        d = program.plan.n2
        rows, columns = simulator.runs[-1].output.grid
        places = [(i, j) for i in range(rows) for j in range(columns)]
        for lhs, rhs in kernel.products:
            x, y = simulator.matrices[lhs], simulator.matrices[rhs]
            product = as_dense(x @ y)
            scale = max(1e-30, float(np.abs(product).max()))
            for i, j in generator.sample(places, min(most, len(places))):
                pairs = execute_task(x, y, (m, n, d), (i, j), program.architecture.p_sys)
                tile = product[i * m : (i + 1) * m, j * d : (j + 1) * d]
                assert np.abs(sum(pair.product for pair in pairs) - tile).max() <= 1e-5 * scale
                compared += len(pairs)
    return compared


def test_all_pairs_of_karate(tmp_path: Path) -> None:
    architecture = tmp_path / "small.toml"
    text = (Path(gnnc.__path__[-1]) / "targets/fpga/architectures/u250.toml").read_text()
    architecture.write_text(text.replace("p_sys = 16 ", "p_sys = 4 "))
    graph = gnnc.Graph.load(DATA / "graphs" / "karate.npz")
    torch.manual_seed(0)
    program = compile_for_fpga(GCN(34, 16, 2, 4).eval(), graph, arch=architecture, order="AH_W")
    n = program.plan.n1
    assert (n, program.plan.n2) == (4, 4)
    rows, inner = -(-34 // n), (-(-34 // n), -(-34 // n), -(-34 // n), -(-16 // n))
    columns = (-(-34 // n), -(-16 // n), -(-16 // n), 1)
    expected = sum(rows * i * j for i, j in zip(inner, columns, strict=True))
    assert check_tasks(program, program.numbers(graph), 10**9) == expected


def test_sampled_pairs_of_cora() -> None:
    program = trained_program("cora", "gcn", "A_HW")
    assert check_tasks(program, numbers_of("cora", "gcn", "A_HW"), 4) >= 200
