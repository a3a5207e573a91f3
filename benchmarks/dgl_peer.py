"""DGL as a peer: a process with a Python of its own that runs when it is told to."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks.inference_models import Inference

MODELS = ("gcn", "sage", "gin", "gat", "jknet")


class DglPeer:
    """A model of DGL with the weights of one of PyG; calling it runs it once. `processor_seconds` are those of its last
    run. Raises RuntimeError where DGL doesn't run it."""

    def __init__(self, python: str, model: str, inference: Inference, threads: int):
        self.folder = TemporaryDirectory()
        path = Path(self.folder.name)
        x, edge_index = inference.arguments[:2]
        np.save(path / "x.npy", x.numpy())
        np.save(path / "edge_index.npy", edge_index.numpy())
        np.savez(path / "weights.npz", **{name: w.numpy() for name, w in inference.model.state_dict().items()})
        server = Path(__file__).parent / "dgl_server.py"
        command = [python, str(server), self.folder.name, model, str(threads)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout
        self.processor_seconds = 0.0
        if self.answers.readline().strip() != "ready":
            assert self.process.stderr is not None
            raise RuntimeError(f"DGL: {self.process.stderr.read().strip().splitlines()[-1]}")
        self.output = torch.from_numpy(np.load(path / "output.npy"))

    def __call__(self) -> torch.Tensor:
        self.requests.write("run\n")
        self.requests.flush()
        self.processor_seconds = float(self.answers.readline())
        return self.output

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
