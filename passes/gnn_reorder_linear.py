"""gnn-reorder-linear: A(XW) or (AX)W, whichever costs less."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects.gnn import (
    AddOp,
    AggregateOp,
    DivOp,
    GatherOp,
    LinearOp,
    LoadWeightOp,
    MatmulOp,
    MulOp,
    ReshapeOp,
)
from gnnc.dialects.gnn.attributes import AnyTensor, domain_of, row_shape, tensor_on, tensor_type
from gnnc.passes.analysis.decision_log import Decision, record, source_of
from gnnc.passes.analysis.folded_weights import WeightFolder
from gnnc.passes.analysis.linear_terms import (
    Gathered,
    Leaf,
    Reduced,
    Scaled,
    Sum,
    Term,
    is_flat,
    leaves,
    price_applied_early,
    price_applied_last,
    term_of,
)
from gnnc.passes.analysis.matching import located
from gnnc.passes.analysis.model_functions import model_functions

EARLY, LAST = "A(XW)", "(AX)W"


@dataclass(frozen=True)
class GnnReorderLinear(ModulePass):
    """Applies a linear layer before the aggregation, the gather, the scaling or the concatenation that it follows,
    where that costs less: a Conv then gathers the narrower rows, what is on edges is computed once a node, and bias,
    residual and activation can join the loop over edges. Prices are those of gnn-split-conv-blocks, for `degree` edges
    a node. Never across a nonlinearity, a maximum or a minimum; bias is added after the sum.
    """

    name = "gnn-reorder-linear"

    degree: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        forward = model_functions(op).forward
        folder = LazyFolder(op)
        for matmul in [o for o in forward.body.block.ops if isinstance(o, MatmulOp)]:
            write_as_linear(matmul, folder)
        seen = set[LinearOp]()
        # a layer that was applied earlier may be applied earlier still, as in a model of several hops
        while fresh := [o for o in forward.body.block.ops if isinstance(o, LinearOp) and o not in seen]:
            seen |= set(fresh)
            for linear in fresh:
                self.reorder(op, linear, folder)
            erase_unused(forward)

    def reorder(self, module: ModuleOp, op: LinearOp, folder: LazyFolder) -> None:
        columns, width = row_shape(op.input.type)[-1], row_shape(op.result.type)[-1]
        if not isinstance(op.weight.owner, LoadWeightOp) or not is_flat(op.input):
            return
        term = term_of(op.input, 0, columns)
        if isinstance(term, Leaf):
            return
        early = price_applied_early(term, width, self.degree)
        last = price_applied_last(term, op.input, columns, width, self.degree)
        choice = EARLY if early < last else LAST
        subject = f"linear {columns} to {width} of {leaf_count(term)}"
        record(module, Decision(self.name, subject, source_of(op), choice, {EARLY: early, LAST: last}))
        if choice == EARLY:
            AppliedEarly(op, folder.get(), width).rewrite(term)


def leaf_count(term: Term) -> str:
    """What a linear layer would be applied to, in words."""
    count = len(leaves(term))
    return "one value" if count == 1 else f"{count} values"


class LazyFolder:
    """The folder of a module's weights, made when it is first asked for."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.folder: WeightFolder | None = None

    def get(self) -> WeightFolder:
        if self.folder is None:
            self.folder = WeightFolder(self.module)
        return self.folder


def write_as_linear(op: MatmulOp, folder: LazyFolder) -> None:
    """x @ w is the linear layer with w's transpose."""
    weight, rows = op.rhs.owner, row_shape(op.lhs.type)
    assert isinstance(op.rhs.type, TensorType)
    if not isinstance(weight, LoadWeightOp) or len(op.rhs.type.get_shape()) != 2 or len(rows) != 1:
        return
    made = folder.get()
    shape = op.rhs.type.get_shape()
    transposed = made.call("aten.t.default", [made.weight(op.rhs)], [shape[1], shape[0]])
    load = located(made.exported(transposed, "transposed"), op)
    linear = located(LinearOp(op.lhs, load.result, None, tensor_type(op.result)), op)
    Rewriter.insert_op([load, linear], InsertPoint.before(op))
    linear.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, [], [linear.result])


class AppliedEarly:
    """Writes a linear layer's result as its term with the layer applied to the leaves."""

    def __init__(self, op: LinearOp, folder: WeightFolder, width: int):
        self.op = op
        self.folder = folder
        self.width = width
        self.element = tensor_type(op.result).element_type

    def rewrite(self, term: Term) -> None:
        op = self.op
        result = self.build(term)
        if op.bias is not None:
            result = self.insert(AddOp(result, op.bias, self.rows_like(result)))
        if result.type != op.result.type:
            result = self.insert(ReshapeOp(result, tensor_type(op.result)))
        result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, [], [result])

    def insert(self, op: Operation) -> SSAValue:
        """Before the linear layer, or, for what comes earlier, right after its operands: see `after`."""
        Rewriter.insert_op(located(op, self.op), InsertPoint.before(self.op))
        return op.results[0]

    def rows_like(self, value: SSAValue) -> AnyTensor:
        return tensor_on(domain_of(value.type), [DYNAMIC_INDEX, self.width], self.element)

    def build(self, term: Term) -> SSAValue:
        match term:
            case Leaf():
                return self.linear(term)
            case Gathered():
                return self.insert(GatherOp(self.linear(term.leaf), term.gather.edges, term.gather.end))
            case Reduced():
                a = term.aggregate
                return self.insert(AggregateOp(a.reduction.data, self.build(term.messages), a.edges, a.end))
            case Scaled():
                return self.scaled(term)
            case Sum():
                values = [self.build(t) for t in term.terms]
                total = values[0]
                for value in values[1:]:
                    total = self.insert(AddOp(total, value, self.rows_like(total)))
                return total

    def linear(self, leaf: Leaf) -> SSAValue:
        value = leaf.value
        flat = tensor_on(domain_of(value.type), [DYNAMIC_INDEX, row_shape(value.type)[-1]], self.element)
        if value.type != flat:
            value = self.insert(ReshapeOp(value, flat))
        weight = self.insert(self.columns(leaf.start, leaf.stop))
        return self.insert(LinearOp(value, weight, None, self.rows_like(value)))

    def columns(self, start: int, stop: int) -> LoadWeightOp:
        """Some columns of the weight."""
        weight = self.op.weight.owner
        assert isinstance(weight, LoadWeightOp) and isinstance(weight.result.type, TensorType)
        out, columns = weight.result.type.get_shape()
        if (start, stop) == (0, columns):
            return weight.clone()
        part = self.folder.call(
            "aten.slice.Tensor", [self.folder.weight(self.op.weight)], [out, stop - start], [1, start, stop]
        )
        return self.folder.exported(part, weight.weight.string_value())

    def scaled(self, term: Scaled) -> SSAValue:
        value, factor = self.build(term.value), term.op.operands[1 - term.place]
        domain = domain_of(factor.type)
        if domain is not None:
            factor = self.as_column(factor)
        type_ = self.rows_like(value)
        if isinstance(term.op, DivOp):
            return self.insert(DivOp(value, factor, type_))
        operands = (value, factor) if term.place == 0 else (factor, value)
        return self.insert(MulOp(*operands, type_))

    def as_column(self, factor: SSAValue) -> SSAValue:
        element = tensor_type(factor).element_type
        column = tensor_on(domain_of(factor.type), [DYNAMIC_INDEX, 1], element)
        return factor if factor.type == column else self.insert(ReshapeOp(factor, column))


def erase_unused(forward: FuncOp) -> None:
    """What the rewrites have left without users."""
    for op in reversed(list(forward.body.block.ops)):
        if op.results and all(not result.uses for result in op.results):
            Rewriter.erase_op(op)
