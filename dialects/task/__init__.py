"""The `task` dialect: kernels as ranges of tasks, in the order in which the soft processor hands them out.

A range says how many tasks there are and which tiles each multiplies; tasks and pairs of tiles are never listed,
neither here nor in the binary stream.
"""

from __future__ import annotations

from typing import Literal, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.kernel import AggregateOp, Matmul, SchemeAttr, UpdateOp

Kind = Literal["aggregate", "update"]
KINDS: dict[type[Matmul], Kind] = {AggregateOp: "aggregate", UpdateOp: "update"}


@irdl_op_definition
class RangeOp(Matmul):
    """The tasks of one kernel: task `first + i * columns + j` computes tile (i, j) of the scheme's grid, from a pair of
    tiles for each entry of the inner list. `fusion` column tiles of a row fit the result buffer and may be one task.

    ```mlir
    %h = task.range "update" first 0 nodes 2708 fusion 1 %x times %w layer 1
        scheme <n1 32 n2 16 grid 170x1 inner [90]>
        : tensor<?x1433xf32, #gnn.on<nodes "n">> times tensor<1433x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "task.range"

    kind = prop_def(StringAttr)
    first = prop_def(IntegerAttr.constr(i64))
    nodes = prop_def(IntegerAttr.constr(i64))
    fusion = prop_def(IntegerAttr.constr(i64))

    traits = traits_def(Pure())
    assembly_format = "$kind `first` $first `nodes` $nodes `fusion` $fusion " + str(Matmul.assembly_format)

    @classmethod
    def of(cls, kernel: Matmul, first: int, nodes: int, fusion: int) -> RangeOp:
        """The range of a kernel that has a scheme."""
        numbers = {"first": first, "nodes": nodes, "fusion": fusion}
        return cls.create(
            operands=kernel.operands,
            properties={
                **kernel.properties,
                "kind": StringAttr(KINDS[type(kernel)]),
                **{name: IntegerAttr(number, i64) for name, number in numbers.items()},
            },
            result_types=[kernel.result.type],
        )

    @property
    def kernel_kind(self) -> Kind:
        return cast(Kind, self.kind.data)

    @property
    def aggregates(self) -> bool:
        return self.kernel_kind == "aggregate"

    @property
    def partition(self) -> SchemeAttr:
        """The scheme, which every range has."""
        assert self.scheme is not None
        return self.scheme

    def verify_(self) -> None:
        if self.kind.data not in KINDS.values():
            raise VerifyException(f'a range is of an "aggregate" or an "update", not of "{self.kind.data}"')
        if self.scheme is None:
            raise VerifyException("a range has the scheme of its kernel: run kernel-partition first")
        if self.fusion.value.data < 1 or self.first.value.data < 0 or self.nodes.value.data < 1:
            raise VerifyException("a range needs a node, a column tile a task, and a first task from 0 on")
        super().verify_()
        scheme = self.cut(self.nodes.value.data, self.scheme.n1.data, self.scheme.n2.data)
        if self.scheme != scheme:
            raise VerifyException(
                f"{self.nodes.value.data} nodes make a grid of {scheme.rows.data}x{scheme.columns.data}"
                f" and inner lengths of {[n.data for n in scheme.inner]}"
            )

    def verify_product(self, lhs: SSAValue, rhs: SSAValue) -> None:
        kernel = AggregateOp if self.aggregates else UpdateOp
        kernel.verify_product(self, lhs, rhs)  # pyright: ignore[reportArgumentType]  # asks for width and result only


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All tasks before are done before any task after begins.

    ```mlir
    task.barrier
    ```
    """

    name = "task.barrier"
    assembly_format = "attr-dict"


TASK = Dialect("task", [RangeOp, BarrierOp], [])

__all__ = ["TASK", "BarrierOp", "RangeOp"]
