"""Some operations of a block become the body of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects.gnn import ConstantOp, FillOp, FusedOperation, YieldOp


def outline(
    block: Block,
    operations: Iterable[Operation],
    results: Sequence[SSAValue],
    make: Callable[[Sequence[SSAValue], Sequence[Attribute], Region], FusedOperation],
    location: Any,
) -> None:
    """Puts one operation in the place of several, which gives those of their `results` that are needed outside, and
    sorts the block again so that operands come first. Constants that they use go with them. The body has an order of
    its own, so that equal work has equal bodies wherever its operations stood."""
    group = with_constants(operations)
    there = [op for op in block.ops if op in group]
    order = in_order_of_need([*(v.owner for v in results), *there], group)
    outside = dict.fromkeys(operand for op in order for operand in op.operands if operand.owner not in group)
    inputs = list(outside)
    body = Block(arg_types=[v.type for v in inputs])
    mapping: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for value, argument in mapping.items():
        argument.name_hint = value.name_hint
    for op in order:
        body.add_op(op.clone(value_mapper=mapping))
    terminator = YieldOp([mapping[v] for v in results])
    terminator.location = location
    body.add_op(terminator)
    fused = make(inputs, [v.type for v in results], Region(body))
    fused.location = location
    Rewriter.insert_op(fused, InsertPoint.before(there[-1]))
    for old, new in zip(results, fused.outputs, strict=True):
        new.name_hint = old.name_hint
        old.replace_uses_with_if(new, lambda use: use.operation not in group)
    for op in reversed(order):
        if all(not result.uses for result in op.results):
            Rewriter.erase_op(op)
    sort(block)


def with_constants(operations: Iterable[Operation]) -> set[Operation]:
    group = set(operations)
    makers = {operand.owner for op in group for operand in op.operands}
    return group | {op for op in makers if isinstance(op, ConstantOp | FillOp)}


def in_order_of_need(roots: Iterable[object], group: Collection[Operation]) -> list[Operation]:
    """The operations of a group that some roots need, each after its operands, first operands first."""
    found: dict[Operation, None] = {}
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        op, operands_found = stack.pop()
        if not isinstance(op, Operation) or op in found or op not in group:
            continue
        if operands_found:
            found[op] = None
            continue
        stack += [(op, True), *((operand.owner, False) for operand in reversed(op.operands))]
    return list(found)


def made_from(values: Iterable[SSAValue], sources: Collection[SSAValue]) -> bool:
    """Whether some values are among `sources`, or computed from one of them."""
    stack, seen = list(values), set[SSAValue]()
    while stack:
        value = stack.pop()
        if value in sources:
            return True
        if value not in seen and isinstance(value.owner, Operation):
            stack.extend(value.owner.operands)
        seen.add(value)
    return False


def sort(block: Block) -> None:
    """Operands before users; otherwise the order stays."""
    placed: set[Operation] = set()
    operations = list(block.ops)
    for op in operations:
        op.detach()
    while operations:
        ready = [op for op in operations if all(is_placed(v, placed) for v in op.operands)]
        for op in ready:
            block.add_op(op)
            placed.add(op)
        operations = [op for op in operations if op not in placed]


def is_placed(value: SSAValue, placed: Collection[Operation]) -> bool:
    return not isinstance(value.owner, Operation) or value.owner in placed
