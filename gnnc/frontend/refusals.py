"""What gnnc refuses, why, and what to do instead: the last part of an error's sentence, and the list in the docs."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """A kind of refusal. `pattern` finds it in the reason that a rule gives; `instead` says what to do."""

    pattern: str
    what: str
    why: str
    instead: str


# In order: the first pattern that is found in a reason says what it is.
REFUSALS = (
    Refusal(
        r"attends from every node|multiplies over all",
        "Attention and products over all pairs of nodes",
        "A node's row needs the rows of all others at once, and there are as many numbers as pairs.",
        "attend along edges, or use linear attention, which sums over nodes once",
    ),
    Refusal(
        r"(sorts|accumulates|looks for the (largest|maximum|minimum|median)|picks one|picks|cuts|splits|reverses|shifts"
        r"|halves|repeats|drops the axis|joins|writes|pads|looks|has channels|takes the product)"
        r" over all nodes or edges|runs from one node",
        "Sorting, ranking, picking and sequences over all nodes: sort pooling, top-k pooling, kNN graphs of features",
        "The result depends on an order or on a place among all rows; results for parts of them can't be combined.",
        "compute it from the program's output, or give it to the model as an attribute of the nodes",
    ),
    Refusal(
        r"over all nodes or edges|statistics from all",
        "Other operators over all nodes",
        "Sums, means, variances, norms, maxima, softmaxes and products of matrices over all rows are computed in two "
        "phases; for this one there is no rule how results for parts of the rows combine.",
        "write it with sums, means or maxima over nodes",
    ),
    Refusal(
        r"random",
        "Random numbers",
        "Two runs of the model differ, so no result is exact.",
        "put the model in evaluation mode, or draw the numbers before and give them as an attribute of the nodes",
    ),
    Refusal(
        r"not known to keep rows apart",
        "Operators without a rule",
        "Whether a row of the result depends on other rows is not known, and is never assumed.",
        "write it with operators that have a rule (see rowwise_rules.py), or report the operator",
    ),
    Refusal(
        r"another axis|different axes|two axes|takes them apart|several axes|axis of size 3|drops the axis",
        "Node axes that move into other axes",
        "A batch has other rows than the graph, so the axis over nodes must stay one axis of its own, the same for all "
        "operands.",
        "keep the nodes on an axis of their own, and name axes by dim",
    ),
    Refusal(
        r"fixed number|count of nodes or edges|repeats rows|repeats a row",
        "A fixed number of rows",
        "The numbers of nodes and edges are left open; a tensor with a row for each of so many nodes fits one graph.",
        "take sizes from the inputs, and give tensors with a row a node as attributes of the graph",
    ),
    Refusal(
        r"writes",
        "Writing to some rows",
        "Rows are written where a mask over all nodes is true, with rows that the same mask picked.",
        "use a mask and torch.where",
    ),
    Refusal(
        r"differs from row to row|matrix of its own|go with the rows|no end of the graph",
        "Weights or indices of a row's own",
        "An index that differs from row to row picks from all rows, and is followed only if it comes from edges.",
        "gather along edge_index; return rows of all nodes, and pick some of them from the result",
    ),
    Refusal(
        r"mixes values|with and without rows|one row for each|no value on nodes|no tensor|has none",
        "Values on different nodes or edges in one operator",
        "Rows of different sets belong to each other only along edges.",
        "gather one of them along edge_index first",
    ),
    Refusal(
        r"the model returns",
        "What is returned",
        "A program returns tensors of nodes, of edges or of the whole graph.",
        "return tensors, or tuples, lists and dicts of them, that depend on node features",
    ),
    Refusal(
        r"values of type|by keyword|write all indices|num_classes|computes with",
        "Types and arguments that the IR does not hold",
        "Complex and quantised numbers have no type in the IR, some arguments no place.",
        "use numbers of a plain type, and positional arguments",
    ),
)

# What torch.export or the front end says before there is an IR; capture.py and its neighbours have the sentences.
BEFORE_CAPTURE = (
    Refusal(
        "can't be captured",
        "Python that looks at the values of tensors",
        "`if x.sum() > 0`, `.item()`, `int(batch.max())` make the trace depend on one graph.",
        "use torch.where, and sizes in place of values",
    ),
    Refusal(
        "has cached the graph",
        "Layers that have cached a graph (cached=True)",
        "What they cached would be baked in.",
        "compile a model that has not run yet",
    ),
    Refusal(
        "changes its buffers",
        "Buffers that forward changes",
        "A program has no state.",
        "compute them before, or pass them as attributes of the graph",
    ),
    Refusal(
        "matches nothing in the graph",
        "Arguments that the graph has nothing for",
        "Names say what an argument is; sizes never do.",
        "rename the argument or add the attribute to the graph",
    ),
)


def refusal_of(reason: str) -> Refusal | None:
    """The kind of refusal that a rule's reason is, or None if it is of no listed kind."""
    return next((refusal for refusal in REFUSALS if re.search(refusal.pattern, reason)), None)


def advised(reason: str) -> str:
    """A reason and what to do instead, as one sentence; a reason that says so itself, after a colon, stays."""
    refusal = refusal_of(reason)
    return reason if refusal is None or ": " in reason else f"{reason}; {refusal.instead}"
