"""In-place operators as functional ones, where that is plain to see.

torch's own functionalisation traces the whole model a second time, which takes as long as the first. Most models change
tensors only right after they were made (`zeros.scatter_add_`, `masked_fill_`, `out += bias`): then the operator without
its underscore on the same operands is all there is to it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Graph, Node


def functionalize(program: ExportedProgram) -> bool:
    """Replaces the in-place operators of a program's graph. False if one is left, because it writes to memory that
    another value shares and that is read later, or to an input or a weight; the program is right in any case."""
    drop_dropouts(program.graph)
    done = replace_all(program.graph)
    outputs: Any = program.graph.output_node().args[0]
    for spec, value in zip(program.graph_signature.output_specs, outputs, strict=True):
        if isinstance(value, Node):
            spec.arg = type(spec.arg)(name=value.name)  # pyright: ignore[reportCallIssue]  # every kind of argument has a name
    program.graph_module.recompile()
    return done


def drop_dropouts(graph: Graph) -> None:
    """In evaluation mode dropout gives its operand itself, not a copy, which its schema does not say."""
    for node in list(graph.nodes):
        if node.target is torch.ops.aten.dropout.default and not node.args[2]:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)


def replace_all(graph: Graph) -> bool:
    order = {node: place for place, node in enumerate(graph.nodes)}
    families = Families()
    for node in list(graph.nodes):
        if node.op in ("placeholder", "get_attr"):
            families.add_outside(node)
        if node.target is operator.getitem:
            families.join(node, node.all_input_nodes)
        if node.op != "call_function" or not isinstance(node.target, OpOverload):
            continue
        if written_operands(node) and not replace(graph, node, families, order):
            return False
        families.join(node, shared_operands(node))
    return True


class Families:
    """Values that share memory."""

    def __init__(self) -> None:
        self.members: dict[Node, set[Node]] = {}
        self.outside: set[Node] = set()

    def add_outside(self, node: Node) -> None:
        """An input or a weight, which nothing may write to."""
        self.outside.add(node)
        self.members[node] = {node}

    def join(self, node: Node, shared: Iterable[Node]) -> None:
        """A call whose results may be views of some operands."""
        family = {node}
        for operand in shared:
            family |= self.members.get(operand, {operand})
        for member in family:
            self.members[member] = family

    def others(self, node: Node) -> set[Node]:
        return self.members.get(node, {node}) - {node}


def written_operands(node: Node) -> list[Node]:
    """The operands that an operator changes."""
    return [operand for operand, is_written in aliased_operands(node) if is_written]


def shared_operands(node: Node) -> list[Node]:
    """The operands that an operator's results may be views of."""
    return [operand for operand, _ in aliased_operands(node)]


def aliased_operands(node: Node) -> Iterator[tuple[Node, bool]]:
    """The operands whose memory an operator returns or writes to, and whether it writes."""
    for position, parameter in enumerate(schema_of(node.target).arguments):
        given: Any = node.args[position] if position < len(node.args) else node.kwargs.get(parameter.name)
        items: Any = given if isinstance(given, list | tuple) else (given,)
        if parameter.alias_info is not None:
            yield from ((item, parameter.alias_info.is_write) for item in items if isinstance(item, Node))


def schema_of(overload: Any) -> Any:
    return overload._schema


def replace(graph: Graph, node: Node, families: Families, order: dict[Node, int]) -> bool:
    """Replaces one in-place operator; False if that is not plain to see."""
    written = written_operands(node)
    functional = functional_form(node)
    if functional is None or len(written) != 1 or written[0] is not node.args[0]:
        return False
    target = written[0]
    family = families.others(target) | {target}
    if family & families.outside or not keeps_type(node, target):
        return False
    if any(order[user] > order[node] for other in family - {target} for user in other.users if user is not node):
        return False
    node.target = functional
    for user in list(target.users):
        if user is not node and order[user] > order[node]:
            user.replace_input_with(target, node)
    return True


def functional_form(node: Node) -> Any:
    """The operator without its underscore."""
    namespace, name = schema_of(node.target).name.split("::")
    if namespace != "aten" or not name.endswith("_"):
        return None
    packet = getattr(torch.ops.aten, name[:-1], None)
    overloads = [] if packet is None else [getattr(packet, overload) for overload in packet.overloads()]
    # an overload may have another name: pow_.Scalar is pow.Tensor_Scalar
    return next((o for o in overloads if parameters_of(o) == parameters_of(node.target)), None)


def parameters_of(overload: Any) -> list[tuple[str, str]]:
    return [(parameter.name, str(parameter.type)) for parameter in schema_of(overload).arguments]


def keeps_type(node: Node, target: Node) -> bool:
    """Whether the functional operator gives the type that the in-place one keeps; promotion could change it."""
    kept = target.meta["val"].dtype
    dtypes = [
        operand.meta["val"].dtype for operand in node.all_input_nodes if hasattr(operand.meta.get("val"), "dtype")
    ]
    floating = {dtype for dtype in dtypes if dtype.is_floating_point}
    return floating <= {kept}
