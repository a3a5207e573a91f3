"""Matrix Market files, `.mtx` and `.mtx.gz`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries, LeftOut
from gnnc.graph_files.faults import parsing
from gnnc.graph_files.sparse import adjacency_entries


def read(file: Path) -> Entries:
    """Read an adjacency matrix in coordinate form: entry (i, j) is an edge from i to j, so rows are sources.

    A symmetric matrix, which stores one triangle, gives both directions. Values become `edge_weight`, float32, also
    where all are 1; a pattern matrix has none. Raises GraphError.
    """
    from scipy.io import mminfo, mmread

    with parsing(file, "Matrix Market file"):
        rows, columns, _, form, field, _ = mminfo(file)
    if form != "coordinate" or field == "complex":
        kind = "complex" if field == "complex" else "dense"
        raise GraphError(f"{file} is a {kind} matrix; write a sparse one of real numbers with scipy.io.mmwrite.")
    with parsing(file, "Matrix Market file"):
        matrix: Any = mmread(file)
    what = f"{file}: the adjacency matrix"
    entries = adjacency_entries(matrix.row, matrix.col, matrix.data, (rows, columns), what)
    is_pattern = field == "pattern"
    weights = LeftOut(f"{file} is a pattern, without values") if is_pattern else matrix.data.astype(np.float32)
    return {**entries, "edge_weight": weights}
