"""gnn-select-primitives: products of given features read them as dense arrays or as compressed sparse rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp, TensorType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import LinearOp, LoadWeightOp, PrimitiveAttr
from gnnc.dialects.gnn.attributes import domain_axis
from gnnc.passes.analysis.decision_log import Decision, record, source_of
from gnnc.passes.analysis.densities import outside
from gnnc.passes.analysis.model_functions import ModelFunctions, argument_name, model_functions
from gnnc.passes.analysis.product_prices import DEFAULT_PRICES, ProductPrices


@dataclass(frozen=True)
class GnnSelectPrimitives(ModulePass):
    """Decides for every linear layer of given features whether it reads them as a dense array or as compressed sparse
    rows, by the density that gnn-annotate-density wrote down. Converting costs more than a product, so only what is
    given to the program may be converted, never what it computes.

    The options are a table of measured products, as `gnnc calibrate` makes one: for each of `columns`, and within it
    for each of `widths`, the picoseconds of a floating-point operation (`dense`) and the density at which sparse rows
    take as long (`crossovers`). Without them a table holds that was measured on one machine.
    """

    name = "gnn-select-primitives"

    columns: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()
    dense: tuple[float, ...] = ()
    crossovers: tuple[float, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions, prices = model_functions(op), self.prices()
        for linear in functions.forward.walk():
            if isinstance(linear, LinearOp) and is_given(linear.input, functions) and may_be_sparse(linear):
                linear.primitive = primitive_of(linear, prices)
                record(op, self.decision(linear, linear.primitive, prices))

    def decision(self, op: LinearOp, primitive: PrimitiveAttr, prices: ProductPrices) -> Decision:
        width, columns = weight_shape(op)
        density = density_of(op)
        costs = {"dense": round(prices.dense_price(columns, width))}
        if density is not None:
            costs["csr"] = round(prices.sparse_price(columns, width, float(density)))
        known = "unknown" if density is None else f"{100 * float(density):.3g}%"
        subject = f"product {columns} to {width} of given features, density {known}"
        predicted, measured = (costs, {}) if not self.columns else ({}, costs)
        return Decision(self.name, subject, source_of(op), primitive.kind.data, predicted, measured)

    def prices(self) -> ProductPrices:
        if not self.columns:
            return DEFAULT_PRICES
        try:
            return ProductPrices(self.columns, self.widths, self.dense, self.crossovers)
        except ValueError as error:
            raise PassFailedException(f"gnn-select-primitives: {error}") from None


def is_given(value: SSAValue, functions: ModelFunctions) -> bool:
    """Whether a value is an input of the program: the same from run to run, as long as the graph is."""
    argument = outside(value)
    if not isinstance(argument, BlockArgument) or argument.block is not functions.forward.body.block:
        return False
    return argument_name(functions.forward, argument.index) is not None


def may_be_sparse(op: LinearOp) -> bool:
    """Whether there is a product of sparse rows for these operands: matrices of 32 or 64 bits with a row a node."""
    type_ = op.input.type
    assert isinstance(type_, TensorType)
    is_matrix = len(type_.get_shape()) == 2 and domain_axis(type_) == 0
    has_product = isinstance(type_.element_type, Float32Type | Float64Type)
    return is_matrix and has_product and isinstance(op.weight.owner, LoadWeightOp)


def primitive_of(op: LinearOp, prices: ProductPrices) -> PrimitiveAttr:
    width, columns = weight_shape(op)
    crossover, density = prices.crossover(columns, width), density_of(op)
    return PrimitiveAttr("csr" if density is not None and density < crossover else "dense", crossover)


def density_of(op: LinearOp) -> Fraction | None:
    """The density of the left side, if it is known."""
    return op.densities.data[0].value if op.densities else None


def weight_shape(op: LinearOp) -> tuple[int, ...]:
    assert isinstance(op.weight.type, TensorType)
    return op.weight.type.get_shape()
