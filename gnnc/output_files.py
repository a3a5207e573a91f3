"""Writing what a program returns, and reading which nodes to return."""

from __future__ import annotations

import csv
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import RunError

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph
    from gnnc.output_rows import OutputRows

FORMATS = (".npy", ".npz", ".csv")


def check_output(path: Path) -> None:
    """Before anything is computed: can this file be written? Raises RunError if not."""
    if path.suffix not in FORMATS:
        raise RunError(f"{path} has no known format: give a name that ends in {', '.join(FORMATS)}")
    check_place(path)


def check_place(path: Path) -> None:
    """Can a file be written here? Raises RunError if not."""
    if path.is_dir():
        raise RunError(f"{path} is a folder: give the name of a file")
    if not path.parent.is_dir():
        raise RunError(f"{path} can't be written: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise RunError(f"{path} can't be written: the folder {path.parent} is read-only for you")


def write_outputs(
    path: Path, arrays: Mapping[str, Any], rows: Sequence[OutputRows], graph: AnyGraph, nodes: Any
) -> list[Path]:
    """Writes outputs by name; returns the files. A file appears under its name only when it is complete.

    `rows` say what the rows of each are, `nodes` to which nodes they belong, None for all. A graph with ids of its own
    gets them written, too: in the first column of a .csv, and beside other formats as NAME.ids.csv.
    """
    if path.suffix != ".npz" and len(arrays) > 1:
        raise RunError(
            f"{path} can hold one output, the model returns {', '.join(arrays)}: give a name that ends in .npz"
        )
    values = {name: np.asarray(array) for name, array in arrays.items()}
    ids = row_ids(rows[0], next(iter(values.values())), graph, nodes) if values else []
    if path.suffix == ".csv":
        return [atomically(path, lambda file: write_csv(file, next(iter(values.values())), ids))]
    written = [atomically(path, lambda file: write_numpy(file, path.suffix, values))]
    if getattr(graph, "node_ids", None) is not None:
        written.append(
            atomically(path.with_suffix(".ids.csv"), lambda file: write_rows(file, ["row", "id"], enumerate(ids)))
        )
    return written


def row_ids(rows: OutputRows, values: Any, graph: AnyGraph, nodes: Any) -> list[Any]:
    """The id of each row of an output: the graph's own, or the number of the node or edge."""
    given = nodes.get(rows.set_name, ()) if isinstance(nodes, Mapping) else nodes
    numbers = range(values.shape[0]) if given is None or rows.kind != "nodes" else np.asarray(given).tolist()
    if rows.kind != "nodes":
        return list(numbers)
    own = getattr(graph, "node_ids", None)
    return list(numbers) if own is None else [own[number] for number in numbers]


def write_numpy(file: Path, suffix: str, values: Mapping[str, Any]) -> None:
    with file.open("wb") as stream:
        if suffix == ".npz":
            np.savez(stream, **values)
        else:
            np.save(stream, next(iter(values.values())))


def write_csv(file: Path, values: Any, ids: list[Any]) -> None:
    rows = values.reshape(values.shape[0], -1)
    header = ["id", *(f"score_{column}" for column in range(rows.shape[1]))]
    # numpy's text is the shortest that gives the same number back, in the array's own precision
    write_rows(file, header, ([node, *row] for node, row in zip(ids, rows.astype(str).tolist(), strict=True)))


def write_rows(file: Path, header: list[str], rows: Any) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)


def atomically(path: Path, write: Callable[[Path], None]) -> Path:
    """Writes a file beside its place and moves it there when it is complete."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    building = Path(name)
    try:
        write(building)
        os.chmod(building, 0o644)
        building.replace(path)
    except OSError as error:
        raise RunError(f"{path} can't be written: {error.strerror}") from None
    finally:
        building.unlink(missing_ok=True)
    return path


def write_text(path: Path, text: str) -> None:
    """Writes a report. Raises RunError if the place can't be written."""
    check_place(path)

    def write(file: Path) -> None:
        file.write_text(text, encoding="utf-8")

    atomically(path, write)


def read_node_list(path: Path, graph: AnyGraph) -> Any:
    """Node numbers from an .npy file, by node type from an .npz file, or from a text file with one id a line: the
    graph's own ids if it has any.

    Raises RunError naming the file, and the line of an id that the graph doesn't have.
    """
    try:
        if path.suffix == ".npy":
            return checked_numbers(path, np.load(path, allow_pickle=False))
        if path.suffix == ".npz":
            return read_typed_nodes(path)
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is not as its name says"
        raise RunError(
            f"{path} can't be read ({reason}): give an .npy of integers or a text file, one id a line"
        ) from None
    own = getattr(graph, "node_ids", None)
    numbers = {str(name): number for number, name in enumerate(own)} if own is not None else None
    return np.asarray([number_of(path, place, line.strip(), numbers) for place, line in enumerate(lines, 1)], np.int64)


def read_typed_nodes(path: Path) -> dict[str, Any]:
    try:
        # opened here, because numpy would not close what it cannot read
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error)) from None
    return {name: checked_numbers(path, array) for name, array in arrays.items()}


def checked_numbers(path: Path, numbers: Any) -> Any:
    if numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
        raise RunError(f"{path} holds {numbers.dtype} of shape {list(numbers.shape)}: give one-dimensional integer ids")
    return numbers


def number_of(path: Path, line: int, text: str, numbers: Mapping[str, int] | None) -> int:
    if numbers is not None and text in numbers:
        return numbers[text]
    if numbers is not None or not text.lstrip("-").isdigit():
        raise RunError(f"{path}, line {line}: '{text}' is no node of the graph")
    return int(text)
