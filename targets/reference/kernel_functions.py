"""The operations of the `kernel` dialect on torch tensors; an adjacency matrix is a sparse one."""

from __future__ import annotations

from typing import Any, cast

import torch
import torch.nn.functional as F
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import SSAValue

from gnnc.dialects import kernel
from gnnc.dialects.task import BarrierOp, RangeOp
from gnnc.targets.edge_sets import EdgeSet

Values = tuple[Any, ...]


@register_impls
class KernelFunctions(InterpreterFunctions):
    """What kernels compute, each on all rows at once."""

    @impl(kernel.AdjacencyOp)
    def adjacency(self, interpreter: Interpreter, op: kernel.AdjacencyOp, args: Values) -> PythonValues:
        given = by_operand(op, args)
        edges = cast(EdgeSet, given[op.edges])
        end = op.end
        rows, columns = edges.index(end.data), edges.index(end.opposite.data)
        shape = (edges.node_count(end.data), edges.node_count(end.opposite.data))
        values = torch.ones(rows.shape) if op.values is None else given[op.values]
        if op.mean is not None:
            values = values / torch.bincount(rows, minlength=shape[0]).clamp(min=1)[rows]
        if op.scaled is not None:
            values = values * given[op.scaled].to(values.dtype).reshape(())
        if op.diagonal is not None:
            own = torch.arange(shape[0])
            diagonal = given[op.diagonal].to(values.dtype).reshape(1).expand(shape[0])
            rows, columns, values = torch.cat([rows, own]), torch.cat([columns, own]), torch.cat([values, diagonal])
        return (torch.sparse_coo_tensor(torch.stack([rows, columns]), values.float(), shape, check_invariants=False),)

    @impl(kernel.TransposeOp)
    def transpose(self, interpreter: Interpreter, op: kernel.TransposeOp, args: Values) -> PythonValues:
        return (args[0].T.contiguous(),)

    @impl(kernel.RowsOp)
    def rows(self, interpreter: Interpreter, op: kernel.RowsOp, args: Values) -> PythonValues:
        start = op.start.value.data
        return (args[0][start : start + cast(Any, op.result.type).get_shape()[0]],)

    @impl(kernel.NormScaleOp)
    def norm_scale(self, interpreter: Interpreter, op: kernel.NormScaleOp, args: Values) -> PythonValues:
        inverse = 1 / torch.sqrt(args[0] + op.eps.value.data)
        return (inverse if op.scale is None else inverse * args[1],)

    @impl(kernel.ScaleOp)
    def scale(self, interpreter: Interpreter, op: kernel.ScaleOp, args: Values) -> PythonValues:
        return ((args[0] * args[1]).to(args[0].dtype),)

    @impl(kernel.AddOp)
    def add(self, interpreter: Interpreter, op: kernel.AddOp, args: Values) -> PythonValues:
        return (args[0] + args[1],)

    @impl(kernel.SubOp)
    def sub(self, interpreter: Interpreter, op: kernel.SubOp, args: Values) -> PythonValues:
        return (args[0] - args[1],)

    @impl(kernel.AggregateOp)
    def aggregate(self, interpreter: Interpreter, op: kernel.AggregateOp, args: Values) -> PythonValues:
        return (self.matmul(op, args),)

    @impl(kernel.UpdateOp)
    def update(self, interpreter: Interpreter, op: kernel.UpdateOp, args: Values) -> PythonValues:
        return (self.matmul(op, args),)

    @impl(RangeOp)
    def tasks(self, interpreter: Interpreter, op: RangeOp, args: Values) -> PythonValues:
        return (self.matmul(op, args),)

    @impl(BarrierOp)
    def barrier(self, interpreter: Interpreter, op: BarrierOp, args: Values) -> PythonValues:
        return ()

    def matmul(self, op: kernel.Matmul, args: Values) -> torch.Tensor:
        given = by_operand(op, args)
        total = sum_of([given[lhs] @ given[rhs] for lhs, rhs in op.segments] + [given[v] for v in op.addends])
        if op.scale is not None:
            total = total * given[op.scale]
        if op.bias is not None:
            total = total + given[op.bias]
        if op.activation is not None:
            total = activate(total, op.activation)
        return sum_of([total, *(given[v] for v in op.residuals)])


def by_operand(op: kernel.AdjacencyOp | kernel.Matmul, args: Values) -> dict[SSAValue, Any]:
    return dict(zip(op.operands, args, strict=True))


def sum_of(tensors: list[torch.Tensor]) -> torch.Tensor:
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor
    return total


def activate(x: torch.Tensor, activation: kernel.ActivationAttr) -> torch.Tensor:
    """A kernel's activation, number by number."""
    parameter = activation.parameter.value.data
    match activation.kind.data:
        case "relu":
            return F.relu(x)
        case "leaky_relu":
            return F.leaky_relu(x, parameter)
        case "elu":
            return F.elu(x, parameter)
        case "sigmoid":
            return torch.sigmoid(x)
        case _:
            return torch.tanh(x)
