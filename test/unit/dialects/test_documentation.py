import re

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from gnnc.universe import GNNC_UNIVERSE

DIALECTS = [factory() for factory in GNNC_UNIVERSE.all_dialects.values()]
OPERATIONS = [operation for dialect in DIALECTS for operation in dialect.operations]
ATTRIBUTES = [attribute for dialect in DIALECTS for attribute in dialect.attributes]
EXAMPLE = re.compile(r"```mlir\n(.*?)```", re.DOTALL)
EXAMPLES = [(op, example) for op in OPERATIONS for example in EXAMPLE.findall(op.__doc__ or "")]


@pytest.mark.parametrize("definition", [*OPERATIONS, *ATTRIBUTES], ids=lambda definition: definition.name)
def test_has_documentation(definition: type[Operation] | type[Attribute]) -> None:
    documentation = definition.__doc__ or ""
    # attributes are dataclasses, which get their signature for a docstring where they have none
    assert documentation and not documentation.startswith(f"{definition.__name__}(")


@pytest.mark.parametrize(("operation", "example"), EXAMPLES, ids=[operation.name for operation, _ in EXAMPLES])
def test_example_parses(operation: type[Operation], example: str) -> None:
    context = Context()
    context.load_dialect(Builtin)
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    # operands that the example doesn't define are forward references to the parser
    assert isinstance(Parser(context, example).parse_operation(), operation)
