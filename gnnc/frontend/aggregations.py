"""Calls of the operators that stand for aggregations, as operations of the `gnn` dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import (
    AggregateQuantileOp,
    AggregateRecurrentOp,
    EndAttr,
    Interpolation,
    ListMessagesOp,
    RecurrentCell,
)
from gnnc.dialects.gnn.attributes import AnyTensor
from gnnc.frontend.aggregation_operators import LIST, NAMESPACE, QUANTILE, RECURRENT
from gnnc.frontend.message_passing import EdgeSet
from gnnc.frontend.traced_values import TracedValue


@dataclass(frozen=True)
class LargestDegree:
    """The largest number of edges that meet at one end of a set: a value of @structure."""

    edges: EdgeSet
    end: EndAttr


class Builder(Protocol):
    """What is asked of the emitter."""

    def operand(self, argument: Any) -> SSAValue: ...

    def type_of(self, value: TracedValue) -> AnyTensor: ...


def aggregation_operation(value: TracedValue, b: Builder, edge_set: EdgeSet, end: EndAttr) -> Operation:
    """The operation of an aggregation's call over the edges that meet `end` of a set."""
    messages, edges, type_ = b.operand(value.args[0]), b.operand(edge_set), b.type_of(value)
    match value.op.removeprefix(f"{NAMESPACE}.").removesuffix(".default"):
        case name if name == QUANTILE:
            quantiles, interpolation, fill = value.args[4:]
            kind = Interpolation(interpolation)
            return AggregateQuantileOp(messages, b.operand(quantiles), edges, end, kind, fill, type_)
        case name if name == RECURRENT:
            cell, weights, layers, bidirectional, biases, _ = value.args[3:]
            steps, operands = b.operand(LargestDegree(edge_set, end)), [b.operand(weight) for weight in weights]
            return AggregateRecurrentOp(
                RecurrentCell(cell),
                messages,
                steps,
                operands,
                edges,
                end,
                type_,
                layers=layers,
                bidirectional=bidirectional,
                biases=biases,
            )
        case name:
            assert name == LIST
            size, descending = value.args[3:]
            return ListMessagesOp(messages, edges, end, size, type_, descending=descending)
