"""The loop over the edges of a row, as Triton: what it carries, a step for some edges at once, and how partial results
of a row's parts are put together.

Softmax is online (Milakov and Gimelshein, Online normalizer calculation for softmax): where a step raises the largest
score, what has been summed so far is scaled down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from gnnc.dialects.gnn import (
    AggregateOp,
    BroadcastOp,
    EdgeSoftmaxOp,
    FusedConvOp,
    GatherOp,
    Reduction,
    ReshapeOp,
)
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.loops.arguments import KernelInput, Role, gather_role
from gnnc.passes.loops.softmax import Attention, attention_of
from gnnc.targets.gpu.triton_kernels.expressions import Expressions, Names, type_text
from gnnc.targets.gpu.triton_kernels.places import Place, Places, width_of

NEUTRAL = {Reduction.MAX: 'float("-inf")', Reduction.MIN: 'float("inf")', Reduction.MUL: "1.0"}
LARGER = "tl.maximum({}, {}, propagate_nan=tl.PropagateNan.ALL)"
SMALLER = "tl.minimum({}, {}, propagate_nan=tl.PropagateNan.ALL)"
COMBINED = {Reduction.MAX: LARGER, Reduction.MIN: SMALLER, Reduction.MUL: "{} * {}"}


@dataclass(frozen=True)
class Softmax:
    """The largest score so far and the sum of exponentials, for the scores at a place."""

    place: Place
    largest: str
    total: str
    scale: str


@dataclass(frozen=True)
class Accumulator:
    """What an aggregation gives at a place, in the variable `name`; the sum is of messages weighed by a softmax, or by
    none."""

    name: str
    reduction: Reduction
    place: Place
    softmax: Softmax | None

    @property
    def width(self) -> int:
        return width_of(self.place)

    @property
    def by_edge(self) -> bool:
        """Whether every place of a step's edges keeps its own until the end: what is NaN must stay."""
        return self.reduction in (Reduction.MAX, Reduction.MIN)

    @property
    def neutral(self) -> str:
        return NEUTRAL.get(self.reduction, "0.0")


class EdgeWalk:
    """Writes `before` the loop, its `loop`, and what comes `after` it, for the aggregations that are asked for."""

    def __init__(
        self,
        op: FusedConvOp,
        places: Places,
        names: Names,
        element: Attribute,
        load: Callable[[KernelInput, Place], str],
    ):
        self.op = op
        self.names = names
        self.element = type_text(element)
        self.load = load
        self.attention = attention_of(op)
        self.before: list[str] = []
        self.loop: list[str] = []
        self.messages = Expressions(places, names, element, self.lines_for, self.leaf)
        self.accumulators: dict[tuple[SSAValue, Place], Accumulator] = {}
        self.softmaxes: dict[Place, Softmax] = {}
        self.wide_loads = 0
        self.varying: dict[SSAValue, bool] = {}

    def accumulated(self, value: SSAValue, place: Place) -> Accumulator:
        """What an aggregation gives at a place."""
        key = (value, place)
        if key not in self.accumulators:
            op = value.owner
            assert isinstance(op, AggregateOp)
            self.accumulators[key] = self.accumulate(op, place)
        return self.accumulators[key]

    def accumulate(self, op: AggregateOp, place: Place) -> Accumulator:
        reduction, name = op.reduction.data, self.names.new("t")
        message = self.messages.value(op.messages, place)
        softmax = None if self.attention is None else self.softmaxes[self.score_place(self.attention, place)]
        accumulator = Accumulator(name, reduction, place, softmax)
        taken = f"tl.where(on, {message}, {accumulator.neutral})"
        if reduction in COMBINED:
            self.loop.append(f"{name} = {COMBINED[reduction].format(name, taken)}")
        elif softmax is None:
            self.loop.append(f"{name} += tl.sum({taken}, axis=0, keep_dims=True)")
        else:
            self.loop.append(f"{name} = {name} * {softmax.scale} + tl.sum({taken}, axis=0, keep_dims=True)")
        return accumulator

    def score_place(self, attention: Attention, place: Place) -> Place:
        """The place of the scores that weigh the messages at a place."""
        op, index = attention.product, attention.weight
        found = self.messages.operand_place(op, index, place)
        layout = op.operands[index].owner
        while isinstance(layout, ReshapeOp | BroadcastOp):
            found = self.messages.operand_place(layout, 0, found)
            layout = layout.input.owner
        return found

    # What a step computes.

    def lines_for(self, value: SSAValue) -> list[str]:
        """What is the same for all edges of a row is computed once."""
        return self.loop if self.is_on_edges(value) else self.before

    def is_on_edges(self, value: SSAValue) -> bool:
        """Whether a value differs from edge to edge of a row."""
        if value not in self.varying:
            self.varying[value] = self.differs(value)
        return self.varying[value]

    def differs(self, value: SSAValue) -> bool:
        owner = value.owner
        if isinstance(owner, GatherOp):
            return gather_role(owner, self.op) is Role.NEIGHBOR
        if isinstance(owner, EdgeSoftmaxOp):
            return True
        if isinstance(owner, Operation):
            return any(self.is_on_edges(operand) for operand in owner.operands)
        domain = domain_of(value.type)
        return domain is not None and not domain.is_nodes

    def leaf(self, value: SSAValue, place: Place) -> str | None:
        owner = value.owner
        if isinstance(owner, EdgeSoftmaxOp):
            return self.weight(owner, place)
        if isinstance(owner, GatherOp):
            assert isinstance(owner.nodes, BlockArgument)
            return self.loaded(KernelInput(owner.nodes.index, gather_role(owner, self.op)), place)
        if isinstance(value, BlockArgument):
            domain = domain_of(value.type)
            role = Role.WHOLE if domain is None else Role.TARGET if domain.is_nodes else Role.EDGE
            return self.loaded(KernelInput(value.index, role), place)
        return None

    def loaded(self, source: KernelInput, place: Place) -> str:
        if source.role in (Role.NEIGHBOR, Role.EDGE) and width_of(place) > 1:
            self.wide_loads += 1
        return self.load(source, place)

    def weight(self, op: EdgeSoftmaxOp, place: Place) -> str:
        """The exponential of a score, with the largest one so far subtracted; divided at the end."""
        score = self.messages.value(op.scores, place)
        number = len(self.softmaxes)
        softmax = Softmax(place, f"largest{number}", f"total{number}", f"scale{number}")
        self.softmaxes[place] = softmax
        largest, weight = softmax.largest, self.names.new("p")
        self.loop += [
            f'{weight} = tl.where(on, {score}, float("-inf"))',
            f"larger = tl.maximum({largest}, tl.max({weight}, axis=0, keep_dims=True))",
            # where all scores so far are -inf, 0 is subtracted: exp(-inf) is 0
            'finite = tl.where(larger == float("-inf"), 0.0, larger)',
            f"{softmax.scale} = tl.exp({largest} - finite)",
            f"{weight} = tl.exp({weight} - finite)",
            f"{softmax.total} = {softmax.total} * {softmax.scale} + tl.sum({weight}, axis=0, keep_dims=True)",
            f"{largest} = larger",
        ]
        return weight

    # How parts of a row are put together.

    def merged(self) -> list[str]:
        """Adds `part_…` variables of a part to those so far."""
        lines: list[str] = []
        for softmax in self.softmaxes.values():
            largest, total, scale = softmax.largest, softmax.total, softmax.scale
            lines += [
                f"larger = tl.maximum({largest}, part_{largest})",
                'finite = tl.where(larger == float("-inf"), 0.0, larger)',
                f"{scale} = tl.exp({largest} - finite)",
                f"part_{scale} = tl.exp(part_{largest} - finite)",
                f"{total} = {total} * {scale} + part_{total} * part_{scale}",
                f"{largest} = larger",
            ]
        return [*lines, *(merged_sum(a) for a in self.accumulators.values())]


def merged_sum(accumulator: Accumulator) -> str:
    name, softmax = accumulator.name, accumulator.softmax
    if softmax is not None:
        return f"{name} = {name} * {softmax.scale} + part_{name} * part_{softmax.scale}"
    if accumulator.reduction in COMBINED:
        return f"{name} = {COMBINED[accumulator.reduction].format(name, f'part_{name}')}"
    return f"{name} += part_{name}"
