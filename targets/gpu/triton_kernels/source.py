"""The text of a fused Conv's kernels: a module of Triton, three functions for all results with rows of one size.

rows    a program computes some numbers of one row, from all of its edges; rows of hubs it leaves out
parts   a program goes over `limit` edges of a hub, and stores what it has summed so far
hubs    a program puts the parts of a hub together, and computes some numbers of its row

A kernel takes offsets and neighbors (compressed sparse rows), the arrays of `kernel_inputs`, and those of its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from gnnc.dialects.gnn import AggregateOp, FusedConvOp, Reduction
from gnnc.dialects.gnn.attributes import row_shape
from gnnc.passes.loops.arguments import KernelInput, Role, kernel_inputs
from gnnc.passes.loops.expressions import HALF, element_of_tensor
from gnnc.passes.loops.lanes import row_size
from gnnc.passes.loops.row_loop import element_type
from gnnc.targets.gpu.triton_kernels.edge_walk import Accumulator, EdgeWalk
from gnnc.targets.gpu.triton_kernels.expressions import Expressions, Names, type_text
from gnnc.targets.gpu.triton_kernels.places import Digit, Place, Places, masks_of, power_of_two, width_of

WIDEST_TILE = 256
"""The most numbers of a row that a program computes."""

TILE_COST = 32
"""What a program costs beside its numbers, in numbers: edges are read anew for every tile of a row."""

LEAST_HEAD = 16
"""Heads with fewer numbers share a program."""

WARP_BYTES = 8192
"""What a warp has on the way from memory at once: 64 of the 255 registers that a thread may have."""

MOST_EDGES, LEAST_EDGES = 32, 4

HEADER = "import triton\nimport triton.language as tl\n"
INDENT = "    "


@dataclass(frozen=True)
class Launch:
    """The functions `rows_N`, `parts_N` and `hubs_N` for some results: how many tiles a row has, how many numbers a
    part of a hub stores for each, and how many warps a program takes."""

    number: int
    results: tuple[int, ...]
    tiles: int
    part_size: int
    warps: int


@dataclass(frozen=True)
class Source:
    """The text of a module, and how its functions are launched."""

    text: str
    launches: tuple[Launch, ...]


def triton_source(op: FusedConvOp) -> Source:
    """The kernels of a fused Conv. Raises NoKernelError where there are none yet."""
    terminator = op.body.block.last_op
    assert terminator is not None
    by_size: dict[int, list[int]] = {}
    for place, value in enumerate(terminator.operands):
        by_size.setdefault(row_size(value), []).append(place)
    writers = [_KernelWriter(op, number, places) for number, places in enumerate(by_size.values())]
    functions = [function for writer in writers for function in writer.functions()]
    return Source("\n\n".join([HEADER, *functions]), tuple(writer.launch() for writer in writers))


@dataclass(frozen=True)
class Tile:
    """The numbers of a row that a program computes; a row has `count` tiles."""

    place: Place
    count: int


class _KernelWriter:
    def __init__(self, op: FusedConvOp, number: int, results: Sequence[int]):
        self.op = op
        self.number = number
        self.results = results
        terminator = op.body.block.last_op
        assert terminator is not None
        self.values: Sequence[SSAValue] = [terminator.operands[place] for place in results]
        self.inputs = kernel_inputs(op)
        self.element = element_type(op)
        self.names = Names()
        self.head: list[str] = []
        self.places = Places(self.head)
        self.tile = self.tile_of(row_size(self.values[0]))
        self.walk = EdgeWalk(op, self.places, self.names, self.element, self.load)
        self.after: list[str] = []
        self.finals: dict[Accumulator, str] = {}
        self.epilogue = Expressions(self.places, self.names, self.element, lambda _: self.after, self.leaf)
        for index, value in enumerate(self.values):
            self.store(index, value)

    # Which numbers a program computes.

    def tile_of(self, size: int) -> Tile:
        """Programs have one head each, or parts of it, where heads are wide."""
        if size == 1:
            return Tile((), 1)
        messages = next(op for op in self.op.reductions if isinstance(op, AggregateOp)).messages
        shape = row_shape(messages.type)
        group = shape[-1] if len(shape) > 1 and size % shape[-1] == 0 and shape[-1] >= LEAST_HEAD else size
        heads, width = size // group, tile_width(group)
        tiles = -(-group // width)
        if tiles == 1:
            lanes = self.places.vector(group)
        else:
            start = f"tl.program_id(1) % {tiles}" if heads > 1 else "tl.program_id(1)"
            text = self.places.named(f"{start} * {width} + tl.arange(0, {width})[None, :]")
            mask = self.places.named(f"{text} < {group}", "in") if tiles * width > group else None
            lanes = Digit(text, group, width, mask)
        if heads == 1:
            return Tile((lanes,), tiles)
        head = self.places.named("tl.program_id(1)" if tiles == 1 else f"tl.program_id(1) // {tiles}")
        return Tile((Digit(head, heads), lanes), heads * tiles)

    # What is loaded and stored.

    def load(self, source: KernelInput, place: Place) -> str:
        argument = self.op.body.block.args[source.place]
        size, number = row_size(argument), self.inputs.index(source)
        row = {Role.NEIGHBOR: "neighbor", Role.EDGE: "edge", Role.TARGET: "row", Role.WHOLE: None}[source.role]
        masks = masks_of(place)
        if source.role in (Role.NEIGHBOR, Role.EDGE):
            masks = ["on", *masks]
        where = address(f"a{number}", row, size, self.places.flat(place))
        masked = f", mask={' & '.join(masks)}, other=0.0" if masks else ""
        text = f"tl.load({where}{masked})"
        return f"{text}.to({type_text(self.element)})" if isinstance(element_of_tensor(argument), HALF) else text

    def store(self, index: int, value: SSAValue) -> None:
        place, size = self.tile.place, row_size(value)
        text, width = self.epilogue.value(value, place), width_of(place)
        where = address(f"r{index}", "row", size, self.places.flat(place))
        if width == 1:
            where += " + tl.zeros([1, 1], tl.int64)"
        element = element_of_tensor(value)
        stored = element if isinstance(element, HALF) else self.element
        masks = masks_of(place)
        masked = f", mask={' & '.join(masks)}" if masks else ""
        self.after.append(f"tl.store({where}, tl.broadcast_to({text}, [1, {width}]).to({type_text(stored)}){masked})")

    def leaf(self, value: SSAValue, place: Place) -> str | None:
        """What the epilogue takes from outside: rows of targets and weights, and what was aggregated."""
        if isinstance(value.owner, AggregateOp):
            return self.final(self.walk.accumulated(value, place))
        return self.walk.leaf(value, place)

    def final(self, accumulator: Accumulator) -> str:
        """The result of an aggregation: a row without edges gets 0, a product 1; a mean is divided, attention, too."""
        name, softmax = accumulator.name, accumulator.softmax
        if softmax is not None:
            assert self.walk.attention is not None
            eps = self.walk.attention.softmax.eps.value.data
            total = f'tl.where({softmax.largest} == float("-inf"), float("nan"), {softmax.total})'
            return f"tl.where(count > 0, {name} / ({total} + {eps!r}), 0.0)"
        match accumulator.reduction:
            case Reduction.MEAN:
                return f"{name} / tl.maximum(count, 1).to({type_text(self.element)})"
            case Reduction.MAX | Reduction.MIN:
                return f"tl.where(count > 0, {name}, 0.0)"
            case _:
                return name

    # The three functions.

    @property
    def edges(self) -> int:
        """How many edges a step takes."""
        accumulators = self.walk.accumulators.values()
        if any(a.reduction is Reduction.MUL for a in accumulators):
            return 1
        kept = sum(a.by_edge for a in accumulators)
        fitting = self.numbers // (self.widest * max(1, self.walk.wide_loads + kept))
        return max(LEAST_EDGES, min(MOST_EDGES, power_of_two(fitting + 1) // 2))

    @property
    def numbers(self) -> int:
        """How many a warp has on the way at once."""
        return WARP_BYTES // self.element.size

    @property
    def widest(self) -> int:
        vectors = [digit.width for digit in self.places.vectors.values()]
        return max([width_of(self.tile.place), *vectors])

    def launch(self) -> Launch:
        warps = max(1, self.edges * self.widest // self.numbers)
        return Launch(self.number, tuple(self.results), self.tile.count, len(self.state) * self.slot, warps)

    @property
    def state(self) -> list[tuple[str, int]]:
        """What a part of a hub hands on: variables and their widths."""
        softmaxes = self.walk.softmaxes.values()
        return [
            *((a.name, a.width) for a in self.walk.accumulators.values()),
            *((name, width_of(s.place)) for s in softmaxes for name in (s.largest, s.total)),
        ]

    @property
    def slot(self) -> int:
        return max(width for _, width in self.state)

    def functions(self) -> list[str]:
        arrays = [f"a{place}" for place in range(len(self.inputs))]
        results = [f"r{place}" for place in range(len(self.results))]
        graph = ["offsets", "neighbors"]
        return [
            function(f"rows_{self.number}", [*graph, *arrays, *results, "limit"], self.rows()),
            function(
                f"parts_{self.number}", [*graph, *arrays, "part_rows", "part_firsts", "sums", "limit"], self.parts()
            ),
            function(
                f"hubs_{self.number}", ["offsets", *arrays, *results, "hub_rows", "hub_parts", "sums"], self.hubs()
            ),
        ]

    def rows(self) -> list[str]:
        return [
            "row = tl.program_id(0).to(tl.int64)",
            "first = tl.load(offsets + row)",
            "last = tl.load(offsets + row + 1)",
            "count = last - first",
            "if count > limit:",
            f"{INDENT}return",
            *self.walked(),
            *self.after,
        ]

    def parts(self) -> list[str]:
        return [
            "part = tl.program_id(0).to(tl.int64)",
            "row = tl.load(part_rows + part).to(tl.int64)",
            "first = tl.load(part_firsts + part)",
            "last = tl.minimum(first + limit, tl.load(offsets + row + 1))",
            *self.walked(),
            f"sums += {self.slot_of('part')}",
            *(f"tl.store(sums + {lanes(k * self.slot, w)}, {name})" for k, (name, w) in enumerate(self.state)),
        ]

    def slot_of(self, part: str) -> str:
        """Where the sums of a part begin."""
        return f"({part} * {self.tile.count} + tl.program_id(1)) * {len(self.state) * self.slot}"

    def walked(self) -> list[str]:
        """The loop over edges `first` to `last`, and what is added up over the edges of a step at its end."""
        neighbors = "neighbor = tl.load(neighbors + start + steps, mask=on, other=0).to(tl.int64)"
        step = ["on = start + steps < last", neighbors, "edge = (start + steps).to(tl.int64)", *self.walk.loop]
        return [
            f"EDGES: tl.constexpr = {self.edges}",
            "steps = tl.arange(0, EDGES)[:, None]",
            *self.head,
            *self.walk.before,
            *self.initial("EDGES"),
            "for start in range(first, last, EDGES):",
            *(INDENT + line for line in step),
            *(line for a in self.walk.accumulators.values() if a.by_edge for line in reduced(a)),
        ]

    def initial(self, edges: str) -> list[str]:
        """Everything before the first edge."""
        element = type_text(self.element)
        lines = [
            f"{a.name} = tl.full([{edges if a.by_edge else 1}, {a.width}], {a.neutral}, {element})"
            for a in self.walk.accumulators.values()
        ]
        for softmax in self.walk.softmaxes.values():
            shape = f"[1, {width_of(softmax.place)}]"
            lines.append(f'{softmax.largest} = tl.full({shape}, float("-inf"), {element})')
            lines.append(f"{softmax.total} = tl.zeros({shape}, {element})")
        return lines

    def hubs(self) -> list[str]:
        part = [f"part = sums + {self.slot_of('number')}"]
        part += [f"part_{name} = tl.load(part + {lanes(k * self.slot, w)})" for k, (name, w) in enumerate(self.state)]
        return [
            "hub = tl.program_id(0)",
            "row = tl.load(hub_rows + hub).to(tl.int64)",
            "count = tl.load(offsets + row + 1) - tl.load(offsets + row)",
            *self.head,
            *self.initial("1"),
            "begin = tl.load(hub_parts + hub).to(tl.int64)",
            "for number in range(begin, tl.load(hub_parts + hub + 1).to(tl.int64)):",
            *(INDENT + line for line in [*part, *self.walk.merged()]),
            *self.after,
        ]


def function(name: str, arguments: Sequence[str], body: Sequence[str]) -> str:
    lines = ["@triton.jit", f"def {name}({', '.join(arguments)}):", *(INDENT + line for line in body)]
    return "\n".join(lines) + "\n"


def address(array: str, row: str | None, size: int, digit: Digit) -> str:
    """Where a number of a row lies; rows lie side by side."""
    terms = [array]
    if row is not None:
        terms.append(row if size == 1 else f"{row} * {size}")
    if size > 1 and digit.text != "0":
        terms.append(digit.text)
    return " + ".join(terms)


def lanes(start: int, width: int) -> str:
    return f"{start} + tl.arange(0, {width})[None, :]"


def reduced(accumulator: Accumulator) -> list[str]:
    """The largest or smallest over a step's edges; NaN if one is NaN, which Triton's own reductions skip."""
    name, kind = accumulator.name, "max" if accumulator.reduction is Reduction.MAX else "min"
    nan = f"tl.sum(tl.where({name} != {name}, 1, 0), axis=0, keep_dims=True) > 0"
    return [f'{name} = tl.where({nan}, float("nan"), tl.{kind}({name}, axis=0, keep_dims=True))']


def tile_width(size: int) -> int:
    """The power of two that a row is cut into, with little left over and few pieces."""
    widths = [w for w in (16, 32, 64, 128, WIDEST_TILE) if w < 2 * size] or [power_of_two(size)]
    return min(widths, key=lambda w: (-(-size // w) * (w + TILE_COST), -w))
