"""From torch's traced graph to values without duplicates (value numbering), sizes with one name each.

Every GCN or GAT layer rebuilds self-loops and normalisation, each time with sizes of its own (u0, u1, …). Equal calls
on equal values are one value; where they made new sizes, the later size is renamed to the earlier one, so that all
layers speak of the same edge set.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from gnnc.errors import UnsupportedModelError
from gnnc.frontend.inputs import MODEL, ModelInput
from gnnc.frontend.source_lines import source_line
from gnnc.frontend.traced_values import Shape, Size, TracedModel, TracedValue

# Operators that return their first operand.
IDENTITIES = frozenset(
    {
        "aten.detach.default",
        "aten.alias.default",
        "aten.clone.default",
        "aten.contiguous.default",
        "aten.lift_fresh_copy.default",
        "aten.lift.default",
    }
)

# Operators that return their operand if the result has its shape: a slice as long as the whole is the whole.
RESHAPES = frozenset({"aten.view.default", "aten._unsafe_view.default", "aten.expand.default", "aten.slice.Tensor"})

# Operators that take another value for its shape only, and what they are with that shape.
SHAPED_LIKE = {
    "aten.expand_as.default": "aten.expand.default",
    "aten.view_as.default": "aten.view.default",
    "aten.reshape_as.default": "aten.view.default",
    "aten.reshape.default": "aten.view.default",
    "aten.flatten.using_ints": "aten.view.default",
    "aten.unflatten.int": "aten.view.default",
}

# Operators that only check something, or that torch leaves behind while tracing.
CHECKS = ("aten._assert", "aten.sym_constrain_range", "aten._functional_assert")

# Operators that take shape and type from their operand and nothing else, and the value they fill with, or where it is.
FILLS: dict[str, float | str] = {
    "aten.new_zeros.default": 0,
    "aten.new_ones.default": 1,
    "aten.new_empty.default": 0,
    "aten.new_full.default": "args[2]",
    "aten.zeros_like.default": 0,
    "aten.ones_like.default": 1,
    "aten.empty_like.default": 0,
    "aten.full_like.default": "args[1]",
    "aten.zeros.default": 0,
    "aten.ones.default": 1,
    "aten.empty.memory_format": 0,
    "aten.full.default": "args[1]",
}

# Keyword arguments that say where a tensor lies, not what is in it.
PLACEMENT = frozenset({"device", "pin_memory", "layout", "memory_format", "non_blocking"})


def number_values(program: ExportedProgram, inputs: Sequence[ModelInput]) -> TracedModel:
    """The traced model without duplicates; `inputs` are the tensors it takes, in order.

    Raises UnsupportedModelError for what has no meaning as a value.
    """
    return _Numbering(program, inputs).run()


class _Numbering:
    def __init__(self, program: ExportedProgram, inputs: Sequence[ModelInput]):
        self.program = program
        self.inputs = inputs
        self.values: list[TracedValue] = []
        self.by_node: dict[Node, Any] = {}
        self.by_key: dict[Any, TracedValue] = {}
        self.renamed: dict[sympy.Expr, sympy.Expr] = {}
        self.size_names: dict[sympy.Expr, int | Size] = {}
        self.expressions: dict[Size, sympy.Expr] = {}

    def run(self) -> TracedModel:
        self.read_placeholders()
        output: Node | None = None
        for node in self.program.graph.nodes:
            if node.op == "call_function":
                self.read_call(node)
            elif node.op == "output":
                output = node
        assert output is not None
        # an input that forward changes in place is a result in torch's eyes; it is none of the model's
        kinds = [spec.kind for spec in self.program.graph_signature.output_specs]
        results_of_graph: Any = output.args[0]
        returned = zip(results_of_graph, kinds, strict=True)
        results = [self.argument(item) for item, kind in returned if kind is OutputKind.USER_OUTPUT]
        for result in results:
            if result is not None and not isinstance(result, TracedValue):
                raise UnsupportedModelError(f"the model returns {result!r}, which is not a tensor: return tensors only")
        return TracedModel(tuple(self.values), tuple(results))

    def read_placeholders(self) -> None:
        nodes = {node.name: node for node in self.program.graph.nodes if node.op == "placeholder"}
        inputs = iter(self.inputs)
        for spec in self.program.graph_signature.input_specs:
            node = nodes[spec.arg.name]
            if spec.kind is InputKind.USER_INPUT:
                value = self.new_value("input", next(inputs).key, (), {}, node)
            else:
                assert spec.target is not None
                value = self.new_value("weight", spec.target.removeprefix(MODEL), (), {}, node)
                value.tensor = self.tensor_of(spec.target).detach()
            self.by_node[node] = value

    def tensor_of(self, target: str) -> torch.Tensor:
        if target in self.program.state_dict:
            return self.program.state_dict[target]
        tensor = self.program.constants[target]
        assert isinstance(tensor, torch.Tensor)
        return tensor

    def read_call(self, node: Node) -> None:
        result = node.meta.get("val")
        if isinstance(result, torch.SymInt | torch.SymBool | torch.SymFloat | int | bool | float):
            self.by_node[node] = self.number(result)
            return
        name = operator_name(node.target)
        if result is None or name.startswith(CHECKS):
            return
        arguments = tuple(self.argument(a) for a in node.args)
        if name in SHAPED_LIKE:
            name, arguments = SHAPED_LIKE[name], (arguments[0], self.outputs_of(result)[0][0])
        same = self.same_as(name, arguments, result)
        if same is not None:
            self.by_node[node] = same
            return
        keywords = {k: self.argument(v) for k, v in node.kwargs.items() if k not in PLACEMENT and v is not None}
        filled = fill_number(name, arguments)
        if filled is not None and sum(isinstance(s, torch.SymInt) for s in result.shape) <= 1:
            name, arguments, keywords = "fill", (filled, self.outputs_of(result)), {}
        key = (name, hashable(arguments), hashable(keywords))
        if key not in self.by_key:
            # an operator that was one in place had an underscore
            hint = node.name.replace("__", "_").removesuffix("_")
            self.by_key[key] = self.new_value(name, hint, arguments, keywords, node)
        else:
            self.unify_sizes(result, self.by_key[key])
        self.by_node[node] = self.by_key[key]

    def same_as(self, name: str, arguments: tuple[Any, ...], result: Any) -> TracedValue | None:
        """The operand that a call returns as it is, if it does."""
        if name in IDENTITIES or (name == "aten.dropout.default" and not arguments[2]):
            return arguments[0]
        whole = self.outputs_of(result)
        if name in RESHAPES and arguments[0].outputs == whole:
            return arguments[0]
        # x[:] = y
        return arguments[1] if name == "aten.slice_scatter.default" and arguments[1].outputs == whole else None

    def new_value(
        self, op: str, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], node: Node
    ) -> TracedValue:
        value = TracedValue(op, name, args, kwargs, self.outputs_of(node.meta["val"]), source_line(node))
        self.values.append(value)
        return value

    def outputs_of(self, result: Any) -> tuple[tuple[Shape, torch.dtype], ...]:
        tensors = result if isinstance(result, tuple | list) else (result,)
        return tuple((tuple(self.number(s) for s in t.shape), t.dtype) for t in tensors if isinstance(t, torch.Tensor))

    def unify_sizes(self, result: Any, known: TracedValue) -> None:
        """The sizes of a result that is a known value are that value's sizes."""
        tensors = result if isinstance(result, tuple | list) else (result,)
        for tensor, (shape, _) in zip(tensors, known.outputs, strict=True):
            for size, known_size in zip(tensor.shape, shape, strict=True):
                if isinstance(size, torch.SymInt) and isinstance(known_size, Size):
                    expression = size.node.expr
                    if expression.is_Symbol and self.number(size) != known_size:
                        self.renamed[expression] = self.expressions[known_size]
                        self.size_names.clear()

    def number(self, value: Any) -> Any:
        """A Python number, or the Size that a symbol stands for."""
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return self.size(value.node.expr)
        return value

    def size(self, expression: sympy.Expr) -> int | Size:
        if expression not in self.size_names:
            simple: Any = expression.xreplace(self.renamed) if self.renamed else expression
            self.size_names[expression] = int(simple) if simple.is_Integer else self.new_size(simple)
        return self.size_names[expression]

    def new_size(self, expression: sympy.Expr) -> Size:
        size = Size(str(expression))
        self.expressions[size] = expression
        return size

    def argument(self, argument: Any) -> Any:
        if isinstance(argument, Node):
            return self.by_node[argument]
        if isinstance(argument, tuple | list):
            return tuple(self.argument(item) for item in argument)
        return self.number(argument)


def fill_number(name: str, arguments: tuple[Any, ...]) -> float | None:
    """The number that a call fills a tensor with; None if it does something else, or the number depends on a size."""
    number = FILLS.get(name)
    if isinstance(number, str):
        number = arguments[int(number[5])]
    return number if isinstance(number, bool | int | float) else None


def operator_name(target: Any) -> str:
    """`aten.linear.default` for an operator, `item` for taking one of several results."""
    return "item" if target is operator.getitem else str(target)


def hashable(argument: Any) -> Any:
    """A key that is equal for equal arguments. 1, 1.0 and True are different arguments."""
    if isinstance(argument, TracedValue):
        return id(argument)
    if isinstance(argument, tuple | list):
        return tuple(hashable(item) for item in argument)
    if isinstance(argument, Mapping):
        return tuple(sorted((key, hashable(value)) for key, value in argument.items()))
    if isinstance(argument, float):
        return ("float", argument.hex())
    return (type(argument).__name__, argument)
