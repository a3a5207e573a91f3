"""What the machine code of a fused operation depends on, as text: equal work has equal texts."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from gnnc.dialects.gnn import EdgeSetType, FusedOperation
from gnnc.dialects.gnn.attributes import domain_of

OF_THE_PLACE = ("densities", "layer", "conv")
"""What operations say of their place in a model."""


def text_of(op: FusedOperation) -> str:
    """The name and body of a fused operation: all that its machine code depends on. Densities, places among the Convs
    and the names of values, of node types and of edge sets are no part of that."""
    arguments = op.body.block.args
    numbers: dict[SSAValue, int] = {argument: argument.index for argument in arguments}
    sets: dict[str, int] = {}
    lines = [op.name, *(spelled_type(argument.type, sets) for argument in arguments)]
    for inner in op.body.block.ops:
        operands = [str(numbers[operand]) for operand in inner.operands]
        given = {**inner.attributes, **inner.properties}
        attributes = [f"{name} = {spelled(given[name])}" for name in sorted(given) if name not in OF_THE_PLACE]
        types = [spelled_type(result.type, sets) for result in inner.results]
        lines.append("; ".join([inner.name, *operands, *attributes, *types]))
        numbers |= {result: len(numbers) + result.index for result in inner.results}
    return "\n".join(lines)


def spelled_type(type_: Attribute, sets: dict[str, int]) -> str:
    """A type with numbers for the names of sets, which `sets` has of those that came before."""

    def number(kind: str, name: str) -> int:
        return sets.setdefault(f"{kind} {name}", len(sets))

    if isinstance(type_, EdgeSetType):
        ends = [number("nodes", end.data) for end in (type_.source, type_.target)]
        return f"edges {number('edges', type_.edge_set.data)}, {ends[0]} -> {ends[1]}"
    domain = domain_of(type_)
    if domain is None:
        return spelled(type_)
    return f"{spelled(row_type(type_))} on {domain.kind.data} {number(domain.kind.data, domain.set_name.data)}"


@cache
def row_type(type_: Attribute) -> TensorType[Attribute]:
    """A type of rows without the name of their set."""
    assert isinstance(type_, TensorType)
    return TensorType(type_.element_type, type_.shape)


@cache
def spelled(attribute: Attribute) -> str:
    return str(attribute)
