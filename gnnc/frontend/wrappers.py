"""What people put around a model, and models that don't have their weights yet."""

from __future__ import annotations

import torch
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.nn.parameter import is_lazy
from torch.optim.swa_utils import AveragedModel

from gnnc.errors import CaptureError

WRAPPERS = (DataParallel, DistributedDataParallel, AveragedModel)


def unwrapped(model: torch.nn.Module) -> torch.nn.Module:
    """The model inside DataParallel, DistributedDataParallel, torch.compile or weight averaging."""
    # torch.compile's own class is not public
    inner = model.module if isinstance(model, WRAPPERS) else getattr(model, "_orig_mod", None)
    return unwrapped(inner) if isinstance(inner, torch.nn.Module) else model


def check_initialised(model: torch.nn.Module) -> None:
    """Raises CaptureError for parameters of lazy modules that have no shape yet."""
    lazy = [name for name, parameter in model.named_parameters() if is_lazy(parameter)]
    if lazy:
        more = f" and {len(lazy) - 3} more" if len(lazy) > 3 else ""
        raise CaptureError(
            f"{type(model).__name__} has parameters without a shape, {', '.join(lazy[:3])}{more}: run it once on the "
            "graph, or load its weights, before it is compiled"
        )
