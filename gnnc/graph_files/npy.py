"""`.npy` arrays, memory-mapped, and folders of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries
from gnnc.graph_files.faults import parsing
from gnnc.graph_files.npz_archive import whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_folder(folder: Path) -> Entries:
    """Read `edge_index.npy` (2, E), and every other `NAME.npy` beside it as the attribute NAME.

    The arrays are mapped into memory, not read. Raises GraphError.
    """
    entries: Entries = {file.stem: read_array(file) for file in sorted(folder.glob("*.npy"))}
    entries["edge_index"] = whole_numbers(entries["edge_index"], str(folder / "edge_index.npy"))
    if "node_ids" in entries:
        entries["node_ids"] = entries["node_ids"].tolist()
    return entries


def read_array(file: Path) -> NDArray[Any]:
    """Map an `.npy` file into memory: it is read as it is used, and never written.

    Raises GraphError if the file is damaged or holds Python objects, which are never unpickled.
    """
    with parsing(file, ".npy file"):
        try:
            # copy-on-write, because torch warns of arrays that cannot be written; numpy.load would open archives too
            return np.lib.format.open_memmap(file, mode="c")
        except ValueError as error:
            # how numpy says it
            if "Python objects" not in str(error):
                raise
            raise GraphError(f"{file} holds Python objects, which gnnc never unpickles; save numbers.") from None
