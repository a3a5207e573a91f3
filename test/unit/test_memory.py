"""How much memory compiling and running takes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import resource, torch
from torch_geometric.nn.models import GCN
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import gnnc
graph = gnnc.Graph.load("examples/data/graphs/cora.npz")
gnnc.compile(GCN(1433, 16, 2, 7).eval(), graph).run()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def test_cora_stays_below_600_mib_over_the_import_of_torch() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(result.stdout) < 600
