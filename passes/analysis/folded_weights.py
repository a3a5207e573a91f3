"""Weights that are made from other weights: the function @weights.

Passes have no numbers. What they compute from weights alone they write down in @weights, one result a new weight; its
attribute `gnn.names` says which. The numbers are filled in when compilation ends (`gnnc.materialize`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects.gnn import LoadWeightOp, OperandAttr, WeightOp, WholeGraphOp
from gnnc.passes.analysis.model_functions import returned

WEIGHTS, NAMES = "weights", "gnn.names"


def weights_function(module: ModuleOp) -> FuncOp | None:
    """The function @weights, if there is one."""
    return next((op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == WEIGHTS), None)


def folded_names(function: FuncOp) -> list[str]:
    """The weights that the results of @weights are, in order."""
    names = function.attributes[NAMES]
    assert isinstance(names, ArrayAttr)
    return [name.data for name in names.data if isinstance(name, StringAttr)]


def argument_list(count: int, rest: Sequence[int | list[int]]) -> list[Attribute]:
    """Operands first, then integers and lists of them."""
    plain: list[Attribute] = [
        ArrayAttr([IntegerAttr(i, i64) for i in r]) if isinstance(r, list) else IntegerAttr(r, i64) for r in rest
    ]
    return [*(OperandAttr(i) for i in range(count)), *plain]


class WeightFolder:
    """Adds to @weights, which it creates when it is first needed."""

    def __init__(self, module: ModuleOp):
        self.module = module
        function = weights_function(module)
        self.function = function if function is not None else self.created()
        self.known: dict[tuple[str, tuple[SSAValue, ...], str], SSAValue] = {}
        self.names = dict(zip(folded_names(self.function), returned(self.function).arguments, strict=True))

    def created(self) -> FuncOp:
        function = FuncOp(WEIGHTS, ((), ()), Region(Block([ReturnOp()])))
        function.attributes[NAMES] = ArrayAttr([])
        last = next(op for op in self.module.ops if isinstance(op, FuncOp))
        Rewriter.insert_op(function, InsertPoint.before(last))
        return function

    def add(self, op: Operation) -> SSAValue:
        Rewriter.insert_op(op, InsertPoint.before(returned(self.function)))
        return op.results[0]

    def weight(self, value: SSAValue) -> SSAValue:
        """A loaded weight, as a value of @weights."""
        op = value.owner
        assert isinstance(op, LoadWeightOp)
        name = op.weight.string_value()
        if name not in self.names:
            self.names[name] = self.add(LoadWeightOp(name, op.result.type))
        return self.names[name]

    def call(
        self, operator: str, operands: Sequence[SSAValue], shape: Sequence[int], rest: Sequence[int | list[int]] = ()
    ) -> SSAValue:
        """An ATen operator on values of @weights, with integers for further arguments; equal calls are one."""
        key = (operator, tuple(operands), str((tuple(rest), tuple(shape))))
        if key not in self.known:
            element = operands[0].type
            assert isinstance(element, TensorType)
            type_ = TensorType(element.element_type, shape)
            arguments = argument_list(len(operands), rest)
            self.known[key] = self.add(WholeGraphOp(operator, arguments, {}, operands, [type_]))
        return self.known[key]

    def number(self, value: float, like: SSAValue) -> SSAValue:
        """One number, of the type of another value's."""
        assert isinstance(like.type, TensorType)
        key = ("number", (), str((value, like.type.element_type)))
        if key not in self.known:
            arguments: list[Attribute] = [ArrayAttr([]), FloatAttr(value, f64)]
            type_ = TensorType(like.type.element_type, [])
            dtype: dict[str, Attribute] = {"dtype": like.type.element_type}
            self.known[key] = self.add(WholeGraphOp("aten.full.default", arguments, dtype, [], [type_]))
        return self.known[key]

    def exported(self, value: SSAValue, hint: str) -> LoadWeightOp:
        """A load, for @forward, of a value of @weights; it becomes a weight of its own."""
        name = next((n for n, v in self.names.items() if v is value), None)
        if name is None:
            name = self.new_name(hint)
            self.names[name] = value
            first = next(iter(self.module.ops))
            assert isinstance(value.type, TensorType)
            Rewriter.insert_op(WeightOp(name, value.type), InsertPoint.before(first))
            terminator = returned(self.function)
            terminator.operands = [*terminator.arguments, value]
            self.function.function_type = FunctionType.from_lists([], [v.type for v in terminator.arguments])
            names = [*folded_names(self.function), name]
            self.function.attributes[NAMES] = ArrayAttr([StringAttr(n) for n in names])
        assert isinstance(value.type, TensorType)
        return LoadWeightOp(name, value.type)

    def new_name(self, hint: str) -> str:
        taken = {op.sym_name.data for op in self.module.ops if isinstance(op, WeightOp)}
        number = 0
        while f"{hint}.{number}" in taken:
            number += 1
        return f"{hint}.{number}"
