"""The lines of a block's function, and where their values lie.

A line that can write into given memory takes it from the arena; memory goes back as soon as nothing refers to it. What
the block hands on is written in its place, and an elementwise line over an operand that is not needed any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PLACE = "@"
"""In the text of a line, `@0` stands for the memory of its first value."""


@dataclass
class Line:
    """`names = text`. `kinds` say what memory the values want, if the line writes into given memory, `packed` whether
    rows lie side by side there; `over` are the operands that a value may lie over. A line that `loads` takes memory
    itself, where it doesn't find its value in place."""

    names: tuple[str, ...]
    text: str
    uses: Sequence[str]
    kinds: Sequence[str] = ()
    rows: str = ""
    over: Sequence[str] = ()
    packed: bool = False
    loads: bool = False


@dataclass
class BlockLines:
    """Lines in order. `placed` are values that have a place to be written to, outside of the arena."""

    lines: list[Line] = field(default_factory=list[Line])
    placed: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, line: Line) -> None:
        self.lines.append(line)

    def body(self, returned: Sequence[str]) -> list[str]:
        """The lines as text, with memory taken and given back."""
        return _Writer(self.lines, self.placed, returned).write()


class _Writer:
    def __init__(self, lines: Sequence[Line], placed: Mapping[str, str], returned: Sequence[str]):
        self.lines = lines
        self.placed = dict(placed)
        self.returned = returned
        self.memory: dict[str, frozenset[str]] = {}
        """For every value, the values whose memory it may be a view of."""
        for line in lines:
            owns = bool(line.kinds) or line.loads
            own = [frozenset({name}) if owns else self.behind(line.uses) for name in line.names]
            self.memory |= dict(zip(line.names, own, strict=True))
        self.loaded = {name for line in lines if line.loads for name in line.names}
        self.packed = {name for line in lines if line.packed for name in line.names}
        self.last: dict[str, int] = {}
        """The last line that refers to the memory of a value."""
        for place, line in enumerate(lines):
            for name in (*line.names, *line.uses):
                self.last |= dict.fromkeys(self.memory.get(name, ()), place)
        self.last |= dict.fromkeys(self.behind(returned), len(lines))
        self.last_name = {name: place for place, line in enumerate(lines) for name in (*line.names, *line.uses)}
        # what owns memory keeps its name until that is given back
        self.last_name |= {name: max(self.last_name[name], last) for name, last in self.last.items()}
        for place, line in reversed(list(enumerate(lines))):
            self.place_operand(line, place)
        self.holder: dict[str, str] = {}
        """The value in whose memory another one was written."""

    def behind(self, names: Sequence[str]) -> frozenset[str]:
        return frozenset[str]().union(*(self.memory.get(name, frozenset()) for name in names))

    def write(self) -> list[str]:
        body: list[str] = []
        for place, line in enumerate(self.lines):
            text = line.text
            for i, name in enumerate(line.names if line.kinds else ()):
                text = text.replace(f"{PLACE}{i}", self.memory_for(name, line, i, place))
            body.append(f"{', '.join(line.names)}{',' if len(line.names) > 1 else ''} = {text}")
            body += self.given_back(place, line)
        return body

    def place_operand(self, line: Line, place: int) -> None:
        """What a line could lie over is written where its own value belongs."""
        if len(line.kinds) == 1 and line.names[0] in self.placed:
            operand = self.dying_operand(line, place)
            if operand is not None and operand not in self.placed and operand not in self.packed:
                self.placed[operand] = self.placed[line.names[0]]

    def dying_operand(self, line: Line, place: int) -> str | None:
        """An operand that the value of a line may lie over, for nothing needs it later."""
        for operand in line.over:
            own = self.memory.get(operand) == frozenset({operand}) and operand not in self.loaded
            if own and self.last[operand] == place:
                return operand
        return None

    def memory_for(self, name: str, line: Line, i: int, place: int) -> str:
        if name in self.placed:
            return self.placed[name]
        operand = self.dying_operand(line, place)
        if operand is not None and operand not in self.placed:
            self.holder[name] = operand
            return operand
        return f"arena.{'packed' if line.packed else 'empty'}({line.kinds[i]}, {line.rows})"

    def given_back(self, place: int, line: Line) -> list[str]:
        over = set(self.holder.values())
        free = [
            name
            for name in self.behind([*line.names, *line.uses])
            if self.last[name] == place and name not in over and name not in self.placed
        ]
        gone = [
            name
            for name in dict.fromkeys([*line.uses, *line.names, *self.behind([*line.names, *line.uses])])
            if name.startswith("v") and self.last_name[name] == place and name not in self.returned
        ]
        lines = [f"arena.release({', '.join(sorted(free))})"] if free else []
        return [*lines, *([f"del {', '.join(gone)}"] if gone else [])]
