"""A fused Conv as something to call with tensors on a CUDA device."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import torch

from gnnc.dialects.gnn import FusedConvOp
from gnnc.dialects.gnn.attributes import row_shape
from gnnc.passes.loops.arguments import KernelInput, kernel_inputs
from gnnc.targets.gpu.device_csr import DeviceCsr
from gnnc.targets.gpu.kernels import cache as disk
from gnnc.targets.gpu.triton_kernels.source import Launch, triton_source
from gnnc.targets.torch_functions import dtype_of


def runs_on(device: str) -> bool:
    """Whether Triton is installed and runs on a device: CUDA, or anything with its interpreter (TRITON_INTERPRET=1)."""
    if find_spec("triton") is None:
        return False
    return device.startswith("cuda") or os.environ.get("TRITON_INTERPRET") == "1"


class TritonKernel:
    """The kernels of a fused Conv, for tensors on one device. What Triton compiles them to it keeps itself."""

    def __init__(self, op: FusedConvOp):
        """Raises NoKernelError if the Conv has no form in Triton."""
        self.inputs: Sequence[KernelInput] = kernel_inputs(op)
        self.source = triton_source(op)
        self.results = [(row_shape(result.type), dtype_of(result.type)) for result in op.outputs]

    def __call__(self, csr: DeviceCsr, arrays: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The rows of the results."""
        device = csr.offsets.device
        results = [torch.empty((csr.rows, *shape), dtype=dtype, device=device) for shape, dtype in self.results]
        if csr.rows:
            module = module_of(self.source.text)
            inputs = [array.contiguous() for array in arrays]
            with torch.cuda.device_of(csr.offsets):
                for launch in self.source.launches:
                    run(module, launch, csr, inputs, [results[place] for place in launch.results])
        return results


def run(
    module: ModuleType,
    launch: Launch,
    csr: DeviceCsr,
    inputs: Sequence[torch.Tensor],
    results: Sequence[torch.Tensor],
) -> None:
    """Fills some results: rows with few edges, then hubs."""
    rows, parts, hubs = (getattr(module, f"{name}_{launch.number}") for name in ("rows", "parts", "hubs"))
    graph, tiles = (csr.offsets, csr.neighbors), launch.tiles
    options = {"num_warps": launch.warps, "enable_fp_fusion": True}
    rows[(csr.rows, tiles)](*graph, *inputs, *results, csr.part_edges, **options)
    if csr.hubs is None:
        return
    part_count, hub_count = csr.hubs.part_rows.shape[0], csr.hubs.rows.shape[0]
    element = torch.float64 if any(r.dtype is torch.float64 for r in results) else torch.float32
    sums = torch.empty(part_count * tiles * launch.part_size, dtype=element, device=csr.offsets.device)
    of_parts = (csr.hubs.part_rows, csr.hubs.part_firsts, sums)
    parts[(part_count, tiles)](*graph, *inputs, *of_parts, csr.part_edges, **options)
    of_hubs = (csr.hubs.rows, csr.hubs.offsets, sums)
    hubs[(hub_count, tiles)](csr.offsets, *inputs, *results, *of_hubs, **options)


@lru_cache(maxsize=256)
def module_of(text: str) -> ModuleType:
    """The functions of a text. Triton reads them from a file, which lies under the hash of the text."""
    file = folder() / f"gnnc_{disk.key_of(text)}.py"
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        disk.write(file, text.encode())
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


@cache
def folder() -> Path:
    """Where texts are kept: among kernels, or for this process alone where nothing can be kept."""
    return disk.folder("triton") or Path(tempfile.mkdtemp(prefix="gnnc-triton-"))
