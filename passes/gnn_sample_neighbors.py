"""gnn-sample-neighbors: the Convs of each layer see a sample of every node's edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import ConvOperation, EdgeSoftmaxOp, GlobalReduceOp, SampleAttr, YieldOp
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.passes.analysis.conv_layers import is_on_edges
from gnnc.passes.analysis.edge_origins import edge_set_behind, is_of_relations
from gnnc.passes.analysis.model_functions import ModelFunctions, model_functions

ALL = -1
"""The fan-out of a layer that is not sampled."""


@dataclass(frozen=True)
class GnnSampleNeighbors(ModulePass):
    """Gives the reductions of every Conv of layer l a sample of at most `fanout[l - 1]` edges a node and relation; -1
    means all of them. Runs after gnn-index-convs, before or after gnn-split-conv-blocks.

    What @structure computes, degrees and norms, stays that of the whole graph; a mean, a softmax or a median is that of
    the sample. A reduction of layer 0 fetches nothing from neighbours and is not sampled. The sample is the one of
    GraphSAGE (Hamilton et al., *Inductive Representation Learning on Large Graphs*, section 3.1), but drawn by a hash,
    so that it is the same for any batches.
    """

    name = "gnn-sample-neighbors"

    fanout: tuple[int, ...]
    seed: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = model_functions(op)
        reductions = [inner for inner in functions.forward.walk() if isinstance(inner, ConvOperation)]
        check_fanout(self.fanout, [layer_of(reduction) for reduction in reductions])
        for reduction in reductions:
            reduction.sample = self.sample_for(layer_of(reduction))
        for reduction in reductions:
            check_sample(functions, reduction)
        if any(reduction.sample is not None for reduction in reductions):
            require_node_results(functions)

    def sample_for(self, layer: int) -> SampleAttr | None:
        fanout = self.fanout[layer - 1] if layer else ALL
        return None if fanout == ALL else SampleAttr(fanout, self.seed)


def layer_of(reduction: ConvOperation) -> int:
    if reduction.layer_index is None:
        raise PassFailedException(f"{reduction.name} has no layer yet: run gnn-index-convs first")
    return reduction.layer_index


def check_fanout(fanout: Sequence[int], layers: Sequence[int]) -> None:
    """One number for each layer, of a meaning each."""
    count = max(layers, default=0)
    if len(fanout) != count:
        raise PassFailedException(
            f"{len(fanout)} fan-outs are given and the model has {count} layers of Convs: "
            "give one for each, the first layer's first, -1 for all neighbours"
        )
    wrong = next((number for number in fanout if number < 1 and number != ALL), None)
    if wrong is not None:
        raise PassFailedException(f"{wrong} is no fan-out: give how many neighbours to draw, or -1 for all of them")


def check_sample(functions: ModelFunctions, reduction: ConvOperation) -> None:
    """Raises PassFailedException where a sample would not be well defined."""
    if isinstance(reduction, EdgeSoftmaxOp):
        for user in reductions_fed(reduction.result):
            require_same_sample(reduction, user)
    if reduction.sample is None:
        return
    edges = edge_set_behind(functions, reduction)
    if edges is None or not is_of_relations(edges):
        name = edge_set_type(reduction.operands[-1]).edge_set.data
        raise PassFailedException(
            f'{reduction.name} of layer {reduction.layer_index} runs over "{name}", edges that the model makes up by '
            "index arithmetic: which of them are the graph's own is not known, so none can be drawn"
        )


def reductions_fed(value: SSAValue) -> list[ConvOperation]:
    """The reductions that an edge value goes into, through row-wise work on the edges."""
    found: dict[ConvOperation, None] = {}
    stack, seen = [value], {value}
    while stack:
        for use in stack.pop().uses:
            if isinstance(use.operation, ConvOperation):
                found[use.operation] = None
            fresh = [result for result in use.operation.results if is_on_edges(result) and result not in seen]
            seen.update(fresh)
            stack.extend(fresh)
    return list(found)


def require_same_sample(softmax: ConvOperation, user: ConvOperation) -> None:
    """What is normalised over a sample must be reduced over the same one, and that is another one in every layer."""
    sampled = softmax.sample is not None or user.sample is not None
    if sampled and (softmax.sample, softmax.layer_index) != (user.sample, user.layer_index):
        raise PassFailedException(
            f"attention of layer {softmax.layer_index} is used again in layer {user.layer_index}, "
            "whose sample is another one: run the model without fan-outs"
        )


def require_node_results(functions: ModelFunctions) -> None:
    """A value of all edges, to be returned, kept or reduced, would have rows that no sample reached."""
    for op in functions.forward.walk():
        wants_all = isinstance(op, YieldOp | ReturnOp | GlobalReduceOp)
        if wants_all and any(is_on_edges(operand) for operand in op.operands):
            raise PassFailedException(
                "the model returns, keeps or reduces values of all edges, and a sample has not all of them: "
                "run it without fan-outs"
            )
