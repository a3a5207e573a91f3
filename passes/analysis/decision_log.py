"""The log of decisions, which is an attribute of the module: passes append to it, tools read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FileLineColLoc, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Operation

from gnnc.dialects.gnn import DecisionAttr

DECISIONS = "gnn.decisions"
NODE, EDGE = "ps a node", "ps an edge"


@dataclass(frozen=True)
class Decision:
    """A pass chose one of several ways to compute something; prices are by choice, `source` is `file:line` or empty."""

    made_by: str
    subject: str
    source: str
    choice: str
    predicted: Mapping[str, int] = field(default_factory=dict[str, int])
    measured: Mapping[str, int] = field(default_factory=dict[str, int])
    unit: str = NODE


def record(module: ModuleOp, decision: Decision) -> None:
    """Appends a decision to the module's log."""
    old = module.attributes.get(DECISIONS)
    attribute = DecisionAttr(
        StringAttr(decision.made_by),
        StringAttr(decision.subject),
        StringAttr(decision.source),
        StringAttr(decision.choice),
        prices(decision.predicted),
        prices(decision.measured),
        StringAttr(decision.unit),
    )
    module.attributes[DECISIONS] = ArrayAttr([*(old.data if isinstance(old, ArrayAttr) else ()), attribute])


def forget(module: ModuleOp, made_by: str) -> None:
    """Takes a pass's decisions out of the log: what they were about is gone."""
    kept = [decision for decision in decisions_of(module) if decision.made_by != made_by]
    module.attributes.pop(DECISIONS, None)
    for decision in kept:
        record(module, decision)


def prices(by_choice: Mapping[str, int]) -> DictionaryAttr:
    return DictionaryAttr({choice: IntegerAttr(price, i64) for choice, price in by_choice.items()})


def decisions_of(module: ModuleOp) -> list[Decision]:
    """The module's log, in the order in which decisions were made."""
    log = module.attributes.get(DECISIONS)
    found = log.data if isinstance(log, ArrayAttr) else ()
    return [decision_of(attribute) for attribute in found if isinstance(attribute, DecisionAttr)]


def decision_of(a: DecisionAttr) -> Decision:
    predicted, measured = (
        {choice: price.value.data for choice, price in by_choice.data.items() if isinstance(price, IntegerAttr)}
        for by_choice in (a.predicted, a.measured)
    )
    return Decision(a.made_by.data, a.subject.data, a.source.data, a.choice.data, predicted, measured, a.unit.data)


def source_of(op: Operation) -> str:
    """`file:line` of the user's model that an operation comes from, or nothing."""
    location = op.location
    return f"{location.filename.data}:{location.line.data}" if isinstance(location, FileLineColLoc) else ""
