"""The weights of kernels, made in @weights."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from gnnc.dialects import kernel
from gnnc.dialects.gnn import ConstantOp, LoadWeightOp
from gnnc.passes.analysis.kernel_graph import NormScale, Vector, Weight


class WeightWriter:
    """Writes @weights, which prepares what products and epilogues take."""

    def __init__(self) -> None:
        self.block = Block()
        self.results: list[SSAValue] = []
        self.made: dict[object, SSAValue] = {}

    def kept(self, value: SSAValue) -> int:
        if value not in self.results:
            self.results.append(value)
        return self.results.index(value)

    def value(self, parameter: object) -> SSAValue:
        if parameter not in self.made:
            self.made[parameter] = self.make(parameter)
        return self.made[parameter]

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def make(self, parameter: object) -> SSAValue:
        match parameter:
            case Weight():
                return self.weight(parameter)
            case Vector():
                return self.vector(parameter)
            case NormScale():
                scale = None if parameter.scale is None else self.value(parameter.scale)
                return self.add(kernel.NormScaleOp(self.value(parameter.variance), scale, parameter.eps))
            case SSAValue():
                assert isinstance(parameter.owner, LoadWeightOp | ConstantOp)
                return self.add(parameter.owner.clone())
            case _:
                raise AssertionError(parameter)

    def weight(self, weight: Weight) -> SSAValue:
        if weight.rows is None and not weight.scales:
            source = self.value(weight.source)
            return self.add(kernel.TransposeOp(source)) if weight.transposed else source
        value = self.value(Weight(weight.source, weight.transposed))
        if weight.rows is not None:
            start, stop = weight.rows
            value = self.add(kernel.RowsOp(value, start, stop - start))
        for scale in weight.scales:
            value = self.add(kernel.ScaleOp(value, self.value(scale)))
        return value

    def vector(self, vector: Vector) -> SSAValue:
        first, *rest = (self.value(operand) for operand in vector.operands)
        makers: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
            "add": kernel.AddOp,
            "sub": kernel.SubOp,
            "scale": kernel.ScaleOp,
        }
        if vector.operation != "load":
            return self.add(makers[vector.operation](first, rest[0]))
        if vector.rows is None:
            return first
        return self.add(kernel.RowsOp(first, vector.rows[0], vector.rows[1] - vector.rows[0]))

    def function(self) -> FuncOp:
        self.block.add_op(ReturnOp(*self.results))
        return FuncOp("weights", ([], [v.type for v in self.results]), Region(self.block))
