"""What the passes decided about a program, to be read by people and by tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from gnnc.passes.analysis.decision_log import Decision, decisions_of
from gnnc.passes.gnn_fuse_conv import GnnFuseConv


def decisions_of_program(module: ModuleOp) -> list[Decision]:
    """The log of a module at the level of ConvBlocks, with what is decided about its Convs when it runs on a CPU."""
    fused = module.clone()
    GnnFuseConv().apply(Context(), fused)
    return decisions_of(fused)


def as_json(decisions: Sequence[Decision]) -> str:
    return json.dumps([asdict(decision) for decision in decisions], indent=1)


def as_text(decisions: Sequence[Decision]) -> str:
    """A paragraph for each decision: what it is about, and a line for each choice, with an arrow at the one taken."""
    return "\n".join(line for decision in decisions for line in lines_of(decision)) or "no decisions"


def lines_of(decision: Decision) -> list[str]:
    place = f"  ({decision.source})" if decision.source else ""
    choices = dict.fromkeys([*decision.predicted, *decision.measured]) or {decision.choice: None}
    width = max(len(choice) for choice in choices)
    return [
        f"{decision.made_by}: {decision.subject}{place}",
        *(f"  {'->' if c == decision.choice else '  '} {c:{width}}{prices_of(decision, c)}" for c in choices),
    ]


def prices_of(decision: Decision, choice: str) -> str:
    both = (("predicted", decision.predicted), ("measured", decision.measured))
    known = [f"{prices[choice]:,} {decision.unit} {kind}" for kind, prices in both if choice in prices]
    return "".join(f"  {price}" for price in known)
