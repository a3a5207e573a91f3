"""gnnc compiles a trained PyTorch GNN and a graph into a program that computes exactly what the model would.

The public names are here; the modules behind them, and torch with them, load on first use.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnnc.api import compile, load
    from gnnc.errors import (
        ArtifactError,
        CaptureError,
        GnncError,
        GraphError,
        ModelError,
        RunError,
        UnsupportedModelError,
    )
    from gnnc.graph import Graph
    from gnnc.hetero_graph import HeteroGraph
    from gnnc.program import Program

__version__ = "0.1.0"

__all__ = [
    "ArtifactError",
    "CaptureError",
    "GnncError",
    "Graph",
    "GraphError",
    "HeteroGraph",
    "ModelError",
    "Program",
    "RunError",
    "UnsupportedModelError",
    "__version__",
    "compile",
    "load",
]

# In a source checkout the subpackages lie beside this folder, not in it.
_root = Path(__file__).resolve().parent.parent
if (_root / "pyproject.toml").is_file() and (_root / "dialects" / "__init__.py").is_file():
    __path__.append(str(_root))

_HOMES = {
    "ArtifactError": "gnnc.errors",
    "CaptureError": "gnnc.errors",
    "GnncError": "gnnc.errors",
    "Graph": "gnnc.graph",
    "GraphError": "gnnc.errors",
    "HeteroGraph": "gnnc.hetero_graph",
    "ModelError": "gnnc.errors",
    "Program": "gnnc.program",
    "RunError": "gnnc.errors",
    "UnsupportedModelError": "gnnc.errors",
    "compile": "gnnc.api",
    "load": "gnnc.api",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gnnc' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
