"""Node tables: a row of text per node, with its id, features, label and split."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries, LeftOut
from gnnc.graph_files.text_table import TextTable, is_missing, is_number, open_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABELS = ("label", "y")
MASKS = ("train_mask", "val_mask", "test_mask")
SPLITS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test", "": "", "none": ""}
TRUTH = {"true": 1.0, "false": 0.0}
# so many rows say whether a column holds numbers
SAMPLE = 100


@dataclass(frozen=True)
class NodeTable:
    """A node table that was read: row i is node i.

    `ids` has the ids as they were written, `numbers` has them as int64 (num_nodes,) if all are integers without leading
    zeros, and `entries` is what the graph gets: `num_nodes`, `node_ids`, and where there are columns for it `x`, `y`,
    `label_names` and masks.
    """

    file: Path
    ids: list[str]
    numbers: NDArray[Any] | None
    entries: Entries


@dataclass(frozen=True)
class NodeColumns:
    """What the columns of a node table are, by their numbers; `names` is the header, `texts` are those left out."""

    file: Path
    names: list[str]
    id: int
    label: int | None
    split: int | None
    masks: list[int]
    features: list[int]
    texts: list[int]

    def place(self, line: int, column: int) -> str:
        """Name the place of a field in a message."""
        return f"{self.file}, line {line}, column {self.names[column]!r}"

    def numbers(self, line: int, fields: list[str]) -> list[float]:
        """Read the features of a node; raise GraphError for one that is no number."""
        try:
            return [float(fields[i]) for i in self.features]
        except ValueError:
            return [self._number(line, i, fields[i]) for i in self.features]

    def flags(self, line: int, fields: list[str]) -> dict[str, bool]:
        """Say which masks a node is in; raise GraphError for a value that does not say it."""
        flags: dict[str, bool] = {}
        if self.split is not None:
            split = SPLITS.get(fields[self.split].lower())
            if split is None:
                place = self.place(line, self.split)
                raise GraphError(f"{place} is {fields[self.split]!r}; write train, val, test or nothing.")
            flags = {f"{name}_mask": split == name for name in ("train", "val", "test")}
        for i in self.masks:
            value = self._number(line, i, fields[i])
            if value not in (0, 1):
                raise GraphError(f"{self.place(line, i)} is {fields[i]!r}; write 0 or 1.")
            flags[self.names[i].lower()] = value == 1
        return flags

    def _number(self, line: int, column: int, text: str) -> float:
        if not is_value(text):
            raise GraphError(f"{self.place(line, column)} is {text!r}; write a number.")
        return TRUTH[text.lower()] if text.lower() in TRUTH else float(text)


def read(file: Path) -> NodeTable:
    """Read a text file with a header and a row per node.

    The column `id`, or else the first, holds the ids. `label` or `y` becomes `y`: int64 where all labels are integers,
    float32 where all are numbers, otherwise class numbers int64 in the sorted order of the names, which `label_names`
    keeps; a missing label is class -1, or NaN among floats. `split` (train, val or valid, test, or empty) becomes the
    three masks, `train_mask`, `val_mask` and `test_mask` (0, 1, true or false) the one of their name. All other columns
    of numbers become `x`, float32, in their order, true and false as 1 and 0; columns of text are left out.

    Raises GraphError with the line and column.
    """
    table = open_table(file)
    columns = _described(table)
    ids: dict[str, int] = {}
    labels: list[str] = []
    features = array("f")
    masks: dict[str, list[bool]] = {}
    for row, (line, fields) in enumerate(islice(table.rows(), 1, None)):
        name = fields[columns.id]
        if is_missing(name) or name in ids:
            fault = "is empty" if is_missing(name) else f"is {name!r} as in line {table.line_of(ids[name] + 1)}"
            raise GraphError(f"{columns.place(line, columns.id)} {fault}; give every node an id of its own.")
        ids[name] = row
        features.extend(columns.numbers(line, fields))
        if columns.label is not None:
            labels.append(fields[columns.label])
        for mask, value in columns.flags(line, fields).items():
            masks.setdefault(mask, []).append(value)

    entries: Entries = {columns.names[i]: LeftOut(f"column {columns.names[i]!r} is text") for i in columns.texts}
    entries.update({"num_nodes": len(ids), "node_ids": [*ids]})
    if columns.features:
        entries["x"] = np.frombuffer(features, np.float32).reshape(len(ids), len(columns.features))
    if columns.label is not None:
        entries.update(_classes(labels))
    entries.update((name, np.array(values, np.bool_)) for name, values in masks.items())
    return NodeTable(file, [*ids], _canonical([*ids]), entries)


def is_value(text: str) -> bool:
    return text.lower() in TRUTH or is_number(text)


def _described(table: TextTable) -> NodeColumns:
    """Tell from the header and the first rows what the columns are."""
    (line, names), *sample = islice(table.rows(), 1 + SAMPLE)
    if all(is_number(name) for name in names):
        raise GraphError(f"{table.file}, line {line} has numbers only; begin with a header, such as id,feature,label.")
    lowered = [name.lower() for name in names]
    if set(LABELS) <= set(lowered):
        raise GraphError(f"{table.file}, line {line} has columns 'label' and 'y', both for the labels; rename one.")
    special = {name: lowered.index(name) for name in ("id", "split", *LABELS, *MASKS) if name in lowered}
    # without a column of this name, the first one holds the ids
    special.setdefault("id", 0)
    others = [i for i in range(len(names)) if i not in special.values()]
    columns = [[fields[i] for _, fields in sample if fields[i]] for i in range(len(names))]
    features = [i for i in others if columns[i] and is_value(columns[i][0])]
    return NodeColumns(
        file=table.file,
        names=names,
        id=special["id"],
        label=special.get("label", special.get("y")),
        split=special.get("split"),
        masks=[special[name] for name in MASKS if name in special],
        features=features,
        texts=[i for i in others if i not in features],
    )


def _classes(labels: list[str]) -> Entries:
    """Turn labels in text into `y`, and into `label_names` too if they are names."""
    present = [label for label in labels if not is_missing(label)]
    try:
        classes = iter(np.array([int(label) for label in present], np.int64))
        return {"y": np.array([-1 if is_missing(label) else next(classes) for label in labels], np.int64)}
    except (ValueError, OverflowError):
        pass
    if all(is_number(label) for label in present):
        return {"y": np.array([float(label or "nan") for label in labels], np.float32)}
    names = sorted(set(present))
    numbers = {name: number for number, name in enumerate(names)}
    return {"y": np.array([numbers.get(label, -1) for label in labels], np.int64), "label_names": names}


def _canonical(ids: list[str]) -> NDArray[Any] | None:
    """Return the ids as int64 if they all are integers, written as Python would write them."""
    try:
        numbers = np.array([int(name) for name in ids], np.int64)
    except (ValueError, OverflowError):
        return None
    return numbers if [str(number) for number in numbers.tolist()] == ids else None
