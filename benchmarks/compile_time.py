"""How long compiling takes, from a fresh interpreter: imports, torch.export, and gnnc's own share.

    python -m benchmarks.compile_time

Each model is compiled in a process of its own. `total` counts from the start of the process, imports included;
`export` is torch.export with its decompositions; `own` is the rest of gnnc.compile.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

MODELS = ("gcn 2", "gat 2", "gat 12", "gcn 20", "gcn 50")
REPEATS = 3


def measure(kind: str, layers: int) -> None:
    """Compiles one model and prints the seconds of torch.export and of the rest."""
    from pathlib import Path

    from torch_geometric.nn.models import GAT, GCN

    import gnnc
    from gnnc.frontend import lower

    seconds: list[float] = []
    capture = lower.capture

    def timed_capture(*arguments: Any) -> Any:
        start = time.perf_counter()
        result = capture(*arguments)
        seconds.append(time.perf_counter() - start)
        return result

    lower.capture = timed_capture
    graph = gnnc.Graph.load(Path(__file__).parents[1] / "examples" / "data" / "graphs" / "cora.npz")
    model = GCN(1433, 16, layers, 7) if kind == "gcn" else GAT(1433, 16, layers, 7, heads=2)
    start = time.perf_counter()
    gnnc.compile(model.eval(), graph)
    total = time.perf_counter() - start
    print(seconds[0], total - seconds[0])


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures compile times on Cora's shape.")
    parser.add_argument("--one", nargs=2, metavar=("KIND", "LAYERS"), help="measure one model in this process")
    arguments = parser.parse_args()
    if arguments.one:
        measure(arguments.one[0], int(arguments.one[1]))
        return
    print(f"{'model':8} {'layers':>6} {'total':>8} {'export':>8} {'own':>8}   seconds, best of {REPEATS}")
    for name in MODELS:
        rows: list[tuple[float, float, float]] = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            command = [sys.executable, "-m", "benchmarks.compile_time", "--one", *name.split()]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            export, own = (float(word) for word in output.split())
            rows.append((time.perf_counter() - start, export, own))
        total, export, own = min(rows)
        kind, layers = name.split()
        print(f"{kind:8} {layers:>6} {total:8.2f} {export:8.2f} {own:8.2f}", flush=True)


if __name__ == "__main__":
    main()
