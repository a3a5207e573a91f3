"""From `gnn` operations to a graph of kernels: what is linear folds, what is not is an epilogue or refused."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, cast

from xdsl.ir import Block, Operation, SSAValue

from gnnc.dialects.gnn import (
    AddOp,
    AggregateOp,
    BatchNormOp,
    BroadcastOp,
    ConcatOp,
    ConstantOp,
    DivOp,
    GatherOp,
    LinearOp,
    LoadWeightOp,
    MatmulOp,
    MulOp,
    Reduction,
    ReshapeOp,
)
from gnnc.dialects.gnn.attributes import domain_of, row_shape
from gnnc.dialects.gnn.rowwise import shape_of
from gnnc.passes.analysis.foldable import (
    Refusal,
    activation_of,
    is_edge_number,
    is_prepared_by_host,
    is_structure,
    reason_of,
    require_matrix,
    require_weight,
    runs_on_host,
)
from gnnc.passes.analysis.kernel_graph import (
    Adjacency,
    Base,
    EdgeFactor,
    Form,
    Input,
    Kernel,
    NormScale,
    Term,
    Vector,
    Weight,
    with_diagonals,
)
from gnnc.passes.analysis.model_functions import ModelFunctions

Order = Literal["AH_W", "A_HW", "auto"]
Forms: TypeAlias = "list[Form]"  # values side by side; one for most


@dataclass
class LinearForms:
    """Reads @forward, which has no blocks, by demand: kernels come into being in the order of the data flow, whatever
    the order of the operations."""

    functions: ModelFunctions
    order: Order
    known: dict[SSAValue, Forms] = field(default_factory=dict[SSAValue, "Forms"])
    consumers: dict[Kernel, int] = field(default_factory=dict[Kernel, int])

    def output(self, value: SSAValue) -> list[Base] | None:
        """The kernels or inputs whose values side by side are `value`; None if the host makes it from other values."""
        try:
            return [self.base_of(form, value) for form in self.forms(value)]
        except Refusal as refusal:
            if refusal.op is not value.owner or not runs_on_host(refusal.op):
                raise
            return None

    def forms(self, value: SSAValue) -> Forms:
        """A node value as sums of products."""
        if value not in self.known:
            self.known[value] = self.shared(self.read(value), value)
        return self.known[value]

    def form(self, value: SSAValue) -> Form:
        """A node value that is not several side by side."""
        forms = self.forms(value)
        if len(forms) > 1:
            raise Refusal(cast(Operation, value.owner), "values side by side can only be multiplied with a weight")
        return forms[0]

    def shared(self, forms: Forms, value: SSAValue) -> Forms:
        """What several operations use is computed once; a sum of values is left to an epilogue if it can be."""
        if len(forms) > 1 or (forms[0].is_identity_sum and len(forms[0].terms) == 1):
            return forms
        if forms[0].is_identity_sum:
            try:
                return [self.identity(self.residual_sum(forms[0], value), forms[0])]
            except Refusal:
                return forms
        if value.has_one_use() or not value.uses:
            return forms
        return [self.identity(self.base_of(forms[0], value), forms[0])]

    def identity(self, base: Base, form: Form) -> Form:
        return Form((Term(base, (form.layer,)),), form.width)

    def read(self, value: SSAValue) -> Forms:
        op = value.owner
        if isinstance(op, Block):
            return [self.input(value)]
        try:
            return self.fold(op)
        except Refusal:
            if not is_prepared_by_host(value, self.functions):
                raise
            return [self.input(value)]

    def input(self, value: SSAValue) -> Form:
        require_matrix(value)
        return Form((Term(Input(value), (0,)),), row_shape(value.type)[0])

    def fold(self, op: Operation) -> Forms:
        """The form of an operation's result. Raises Refusal."""
        require_matrix(op.results[0], op)
        activation = activation_of(op)
        if activation is not None:
            return [self.activated(form, op, activation) for form in self.forms(op.operands[0])]
        match op:
            case AggregateOp():
                return self.aggregate(op)
            case LinearOp():
                return [self.linear(op, op.input, op.weight, op.bias, transposed=True)]
            case MatmulOp():
                return [self.linear(op, op.lhs, op.rhs, None, transposed=False)]
            case AddOp():
                return self.add(op)
            case MulOp() | DivOp():
                return self.multiply(op)
            case BatchNormOp():
                return [self.batch_norm(op)]
            case ConcatOp():
                return [form for value in op.inputs for form in self.forms(value)]
            case ReshapeOp() | BroadcastOp() if op.input.type == op.result.type:
                return self.forms(op.input)
            case _:
                raise Refusal(op, reason_of(op))

    # ---- kernels

    def base_of(self, form: Form, value: SSAValue) -> Base:
        """The kernel or input whose value is a form; a new kernel unless the form is one already."""
        if form.is_identity_sum and len(form.terms) == 1:
            return form.terms[0].base
        if form.is_identity_sum:
            return self.residual_sum(form, value)
        return self.kernel(form, value, None)

    def residual_sum(self, form: Form, value: SSAValue) -> Base:
        """A sum of computed values: all but one are added by the epilogue of the kernel that computes that one."""
        bases = [term.base for term in form.terms]
        for base in reversed(bases):
            others = [other for other in bases if other is not base]
            alone = isinstance(base, Kernel) and self.consumers.get(base, 0) == 0 and base.source.has_one_use()
            if alone and len(others) == len(bases) - 1 and not any(depends_on(other, base) for other in others):
                assert isinstance(base, Kernel)
                base.residuals.extend(others)
                self.note_uses(others)
                return base
        raise Refusal(cast(Operation, value.owner), "a sum of values that other kernels use needs a product of its own")

    def activated(self, form: Form, op: Operation, activation: tuple[str, float]) -> Form:
        if form.is_identity_sum:
            raise Refusal(op, "an activation is the epilogue of a product, and there is none before it")
        return self.identity(self.kernel(form, op.results[0], activation), form)

    def kernel(self, form: Form, value: SSAValue, activation: tuple[str, float] | None) -> Kernel:
        """The kernel of a form, after those of what it multiplies."""
        op = cast(Operation, value.owner)
        segments: list[tuple[Adjacency | Base, Base | Weight]] = []
        addends: list[Base] = []
        terms = [scaled_into_factors(term, op) for term in with_diagonals(form.terms)]
        weighted = any(term.weight is not None for term in terms)
        ends_in_update = weighted and all(
            term.weight is None or not term.adjacencies or not self.weight_first(term, form) for term in terms
        )
        for term in terms:
            self.add_term(term, form, value, segments, addends, ends_in_update)
        if not segments:
            raise Refusal(op, "a scaled or normalised value needs a product before it")
        kernel = Kernel(
            "update" if ends_in_update or not isinstance(segments[0][0], Adjacency) else "aggregate",
            tuple(segments),
            value,
            form.width,
            form.layer,
            op.location,
            tuple(addends),
            form.scale,
            form.bias,
            activation,
        )
        self.note_uses(operands_of(kernel))
        return kernel

    def add_term(
        self,
        term: Term,
        form: Form,
        value: SSAValue,
        segments: list[tuple[Adjacency | Base, Base | Weight]],
        addends: list[Base],
        ends_in_update: bool,
    ) -> None:
        if term.is_identity:
            addends.append(term.base)
            return
        if ends_in_update and term.weight is not None:
            segments.append((self.chain(term, term.base, len(term.adjacencies), value), term.weight))
            return
        base = term.base if term.weight is None else self.product(term, form, value)
        if not term.adjacencies:
            addends.append(base)
            return
        if ends_in_update:
            addends.append(self.chain(term, base, len(term.adjacencies), value))
        else:
            segments.append((term.adjacencies[-1], self.chain(term, base, len(term.adjacencies) - 1, value)))

    def weight_first(self, term: Term, form: Form) -> bool:
        """Whether A x H x W runs as A(HW): if asked for, or where it aggregates the narrower values."""
        return self.order == "A_HW" or (self.order == "auto" and form.width <= width_of(term.base))

    def product(self, term: Term, form: Form, value: SSAValue) -> Kernel:
        """H x W alone, in the layer of the Conv that it is for."""
        op = cast(Operation, value.owner)
        self.note_uses([term.base])
        layer = term.layers[1] if term.adjacencies else form.layer
        return Kernel("update", ((term.base, cast(Weight, term.weight)),), value, form.width, layer, op.location)

    def chain(self, term: Term, base: Base, count: int, value: SSAValue) -> Base:
        """A term's first adjacencies times a value, one kernel after the other."""
        op = cast(Operation, value.owner)
        for adjacency, layer in zip(term.adjacencies[:count], term.layers[1:], strict=False):
            self.note_uses([base])
            base = Kernel("aggregate", ((adjacency, base),), value, width_of(base), layer, op.location)
        return base

    def note_uses(self, bases: list[Base]) -> None:
        for base in bases:
            if isinstance(base, Kernel):
                self.consumers[base] = self.consumers.get(base, 0) + 1

    # ---- what is linear

    def linear(
        self, op: Operation, input: SSAValue, weight: SSAValue, bias: SSAValue | None, *, transposed: bool
    ) -> Form:
        load = require_weight(op, weight)
        width = row_shape(op.results[0].type)[0]
        terms: list[Term] = []
        forms, start = self.forms(input), 0
        for form in forms:
            rows = (start, start + form.width) if len(forms) > 1 else None
            start += form.width
            terms += [replace(term, weight=Weight(load, transposed, rows)) for term in self.linear_terms(form, input)]
        vector = None if bias is None else Vector("load", (require_weight(op, bias),))
        return Form(tuple(terms), width, vector)

    def linear_terms(self, form: Form, value: SSAValue) -> tuple[Term, ...]:
        """Terms that a weight can be put to the right of: no bias, no weight yet."""
        if form.is_plain_sum and all(term.weight is None for term in form.terms):
            return form.terms
        return self.identity(self.base_of(form, value), form).terms

    def add(self, op: AddOp) -> Forms:
        for vector, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
            if isinstance(vector.owner, LoadWeightOp):
                return self.add_bias(op, vector, self.forms(other))
        left, right = self.forms(op.lhs), self.forms(op.rhs)
        if [form.width for form in left] != [form.width for form in right]:
            raise Refusal(op, "the values that are added are not side by side in the same way")
        return [self.sum_of(a, b, op) for a, b in zip(left, right, strict=True)]

    def add_bias(self, op: Operation, vector: SSAValue, forms: Forms) -> Forms:
        if len(shape_of(vector)) != 1 or shape_of(vector)[0] != sum(form.width for form in forms):
            raise Refusal(op, "only a number a column can be added to a product")
        result: Forms = []
        start = 0
        for form in forms:
            part = Vector("load", (vector,), (start, start + form.width) if len(forms) > 1 else None)
            start += form.width
            result.append(replace(form, bias=part if form.bias is None else Vector("add", (form.bias, part))))
        return result

    def sum_of(self, a: Form, b: Form, op: AddOp) -> Form:
        a, b = self.unscaled(a, op.lhs), self.unscaled(b, op.rhs)
        bias = a.bias or b.bias
        if a.bias is not None and b.bias is not None:
            bias = Vector("add", (a.bias, b.bias))
        return Form(with_diagonals((*a.terms, *b.terms)), a.width, bias)

    def multiply(self, op: MulOp | DivOp) -> Forms:
        factor, other = self.factor_of(op)
        forms, divides = self.forms(other), isinstance(op, DivOp)
        if shape_of(factor) in ((), (1,)):
            if divides:
                raise Refusal(op, "a value can be multiplied by a single number, not divided")
            return [scaled_form(self.unscaled(form, other), factor) for form in forms]
        plain = [form if form.is_plain_sum else self.identity(self.base_of(form, other), form) for form in forms]
        return [replace(f, terms=tuple(with_row_factor(t, factor, divides) for t in f.terms)) for f in plain]

    def unscaled(self, form: Form, value: SSAValue) -> Form:
        return form if form.scale is None else self.identity(self.base_of(form, value), form)

    def factor_of(self, op: MulOp | DivOp) -> tuple[SSAValue, SSAValue]:
        """What a node value is multiplied by, a single number or a number a node that the structure gives; the value.

        Raises Refusal.
        """
        sides = ((op.rhs, op.lhs),) if isinstance(op, DivOp) else ((op.rhs, op.lhs), (op.lhs, op.rhs))
        for factor, other in sides:
            single = isinstance(factor.owner, LoadWeightOp | ConstantOp) and shape_of(factor) in ((), (1,))
            a_number_a_node = domain_of(factor.type) is not None and row_shape(factor.type) in ((1,), ())
            if single or (a_number_a_node and is_structure(factor, self.functions)):
                return factor, other
        raise Refusal(op, "it multiplies or divides values that both depend on features")

    def batch_norm(self, op: BatchNormOp) -> Form:
        form = self.unscaled(self.form(op.input), op.input)
        gamma, beta = (*op.affine, None, None)[:2]
        scale = NormScale(require_weight(op, op.variance), gamma, op.eps.value.data)
        centred = Vector("load", (require_weight(op, op.mean),))
        shifted = Vector("sub", (form.bias, centred)) if form.bias is not None else centred
        bias = Vector("scale", (shifted, scale))
        if form.bias is None:
            zero = Vector("sub", (centred, centred))
            bias = Vector("sub", (Vector("load", (beta,)) if beta is not None else zero, bias))
        elif beta is not None:
            bias = Vector("add", (bias, Vector("load", (beta,))))
        if all(term.weight is not None for term in form.terms):
            terms = tuple(replace(t, weight=scaled_weight(t.weight, scale)) for t in form.terms)
            return Form(terms, form.width, bias)
        return Form(form.terms, form.width, bias, scale)

    # ---- aggregations

    def aggregate(self, op: AggregateOp) -> Forms:
        if op.reduction.data not in (Reduction.SUM, Reduction.MEAN):
            raise Refusal(op, f"{op.reduction.data.value} is no sum of products")
        factors: list[EdgeFactor] = []
        forms, value = self.messages(op.messages, op, factors)
        assert op.layer_index is not None
        mean = op.reduction.data is Reduction.MEAN
        adjacency = Adjacency(op.edges, op.end, mean, tuple(factors))
        plain = [f if f.is_plain_sum else self.identity(self.base_of(f, value), f) for f in forms]
        return [replace(f, terms=tuple(aggregated(term, adjacency, op.layer_index) for term in f.terms)) for f in plain]

    def messages(self, value: SSAValue, op: AggregateOp, factors: list[EdgeFactor]) -> tuple[Forms, SSAValue]:
        """The node values that the messages are made of; what they are multiplied by goes to `factors`."""
        message = value.owner
        if isinstance(message, GatherOp):
            if message.edges is not op.edges or message.end == op.end:
                raise Refusal(message, "a message must come from the other end of the edges that are aggregated over")
            return self.forms(message.nodes), message.nodes
        if isinstance(message, MulOp):
            for factor, other in ((message.lhs, message.rhs), (message.rhs, message.lhs)):
                if is_edge_number(factor, self.functions):
                    factors.append(EdgeFactor(factor))
                    return self.messages(other, op, factors)
        if isinstance(message, LinearOp) and message.bias is None and isinstance(message.input.owner, GatherOp):
            require_weight(message, message.weight)
            forms, nodes = self.messages(message.input, op, factors)
            weight, width = Weight(message.weight, True), row_shape(message.result.type)[0]
            if len(forms) == 1:
                terms = tuple(replace(t, weight=weight) for t in self.linear_terms(forms[0], nodes))
                return [Form(terms, width)], nodes
        raise Refusal(
            message if isinstance(message, Operation) else op,
            "a message must be a neighbour's value times numbers that the graph gives; this one depends on features",
        )


def aggregated(term: Term, adjacency: Adjacency, layer: int) -> Term:
    """A term with one more adjacency on its left; numbers a node are columns of the matrix."""
    source = adjacency.end.opposite
    factors = tuple(EdgeFactor(value, source, divides) for value, divides in term.row_factors)
    adjacency = replace(adjacency, factors=(*adjacency.factors, *factors))
    return replace(term, adjacencies=(*term.adjacencies, adjacency), layers=(*term.layers, layer), row_factors=())


def with_row_factor(term: Term, value: SSAValue, divides: bool) -> Term:
    """A term whose rows are multiplied by a number a node: rows of its last matrix, if it has one."""
    if not term.adjacencies:
        return replace(term, row_factors=(*term.row_factors, (value, divides)))
    last = term.adjacencies[-1]
    last = replace(last, factors=(*last.factors, EdgeFactor(value, last.end, divides)))
    return replace(term, adjacencies=(*term.adjacencies[:-1], last))


def scaled_into_factors(term: Term, op: Operation) -> Term:
    """A term whose single numbers are part of its last matrix or its weight. Raises Refusal."""
    if term.row_factors:
        raise Refusal(op, "a value that is scaled node by node must be aggregated next")
    if not term.scales:
        return term
    if term.adjacencies and term.adjacencies[-1].diagonal is None:
        last = replace(term.adjacencies[-1], scales=(*term.adjacencies[-1].scales, *term.scales))
        return replace(term, adjacencies=(*term.adjacencies[:-1], last), scales=())
    if term.weight is None:
        raise Refusal(op, "a scaled value needs a product that takes the scale")
    return replace(term, weight=replace(term.weight, scales=(*term.weight.scales, *term.scales)), scales=())


def scaled_form(form: Form, factor: SSAValue) -> Form:
    """A form times a single number."""
    terms = tuple(replace(term, scales=(*term.scales, factor)) for term in form.terms)
    return replace(form, terms=terms, bias=None if form.bias is None else Vector("scale", (form.bias, factor)))


def scaled_weight(weight: Weight | None, scale: NormScale) -> Weight:
    assert weight is not None
    return replace(weight, scales=(*weight.scales, scale))


def width_of(base: Base) -> int:
    return row_shape(base.value.type)[0] if isinstance(base, Input) else base.width


def depends_on(base: Base, other: Base) -> bool:
    """Whether a kernel needs another's value."""
    seen: set[Base] = set()
    stack = [base]
    while stack:
        part = stack.pop()
        if part is other:
            return True
        if part not in seen:
            seen.add(part)
            stack += operands_of(part)
    return False


def operands_of(base: Base) -> list[Base]:
    """The values that a kernel takes, in order; none for an input."""
    if isinstance(base, Input):
        return []
    parts = [part for pair in base.segments for part in pair if isinstance(part, Input | Kernel)]
    return [*parts, *base.addends, *base.residuals]
