"""Programs whose Convs see a sample of each node's neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.utils.exceptions import PassFailedException

from gnnc.errors import RunError
from gnnc.passes.gnn_sample_neighbors import GnnSampleNeighbors

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def sampled_module(module: ModuleOp, fanout: Sequence[int], seed: int) -> ModuleOp:
    """A copy of the module in which the Convs of layer l see at most `fanout[l - 1]` edges a node and relation.

    Raises RunError where the fan-outs don't fit the model, or a sample of it would not be well defined.
    """
    sampled = module.clone()
    try:
        GnnSampleNeighbors(tuple(fanout), seed).apply(Context(), sampled)
    except PassFailedException as error:
        raise RunError(f"fanout={list(fanout)}: {error}") from None
    sampled.verify()
    return sampled


def fan_outs(given: Any) -> tuple[int, ...]:
    """The fan-outs that `run` was given. Raises RunError if they are no integers, one a layer."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(is_whole(number) for number in given):
        raise RunError(f"fanout is {given!r}: give a list with a whole number for each layer, -1 for all neighbours")
    return tuple(int(number) for number in given)


def is_whole(number: Any) -> bool:
    try:
        return not isinstance(number, bool) and index(number) == number
    except TypeError:
        return False


def fan_outs_of_text(text: str) -> tuple[int, ...]:
    """`10,10` as fan-outs. Raises RunError if it isn't that."""
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise RunError(f"--fanout {text}: give whole numbers, one for each layer, such as 10,10") from None
