"""The base class of the operations of the `gnn` dialect."""

from abc import ABC

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import DensityAttr, DomainAttr, domain_axis, domain_of, verify_value_type


class GnnOperation(IRDLOperation, ABC):
    """An operation whose tensors follow the rule of the dialect: one `?` for a value on a domain, none otherwise."""

    def verify_(self) -> None:
        for index, operand in enumerate(self.operands):
            verify_value_type(operand.type, f"operand {index}")
        for index, result in enumerate(self.results):
            verify_value_type(result.type, f"result {index}")
        self.verify_semantics()

    def verify_semantics(self) -> None:
        """What the operation itself asks of its operands and results; raises VerifyException."""


def shared_domain(op: Operation) -> DomainAttr:
    """The one domain that the operands and results of a row-wise operation have in common."""
    values: tuple[SSAValue, ...] = (*op.operands, *op.results)
    domains = {domain for value in values if (domain := domain_of(value.type)) is not None}
    if not domains:
        raise VerifyException("a row-wise operation needs a value on a domain")
    if len(domains) > 1:
        names = ", ".join(sorted(str(d) for d in domains))
        raise VerifyException(f"a row-wise operation stays on one domain, this one mixes {names}")
    return domains.pop()


def operand_domain(op: Operation) -> DomainAttr:
    """The one domain that the operands of an operation have in common."""
    domains = {domain for value in op.operands if (domain := domain_of(value.type)) is not None}
    if len(domains) != 1:
        raise VerifyException("the operands must be on one domain")
    return domains.pop()


def require_domain(value: SSAValue, domain: DomainAttr, what: str) -> None:
    if domain_of(value.type) != domain:
        actual = domain_of(value.type)
        raise VerifyException(f"{what} must be on {domain}, it is {f'on {actual}' if actual else 'on no domain'}")


def require_index(value: SSAValue, what: str) -> None:
    """An index tensor has one integer a row."""
    shape = getattr(value.type, "get_shape", lambda: ())()
    if len(shape) != 1 or domain_axis(value.type) != 0:
        raise VerifyException(f"{what} must be a one-dimensional tensor on a domain")


def verify_densities(densities: ArrayAttr[DensityAttr] | None) -> None:
    """A matrix product has a density for each side, or none yet."""
    if densities is not None and len(densities) != 2:
        raise VerifyException(f"a product has two sides, and {len(densities)} densities are given")
