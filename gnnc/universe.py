"""What gnnc adds to every xDSL tool: dialects and passes, found through the entry point `xdsl.universe`."""

from xdsl.ir import Dialect
from xdsl.universe import Universe

from gnnc.passes import get_all_passes


def get_gnn() -> Dialect:
    from gnnc.dialects.gnn import GNN

    return GNN


def get_kernel() -> Dialect:
    from gnnc.dialects.kernel import KERNEL

    return KERNEL


def get_task() -> Dialect:
    from gnnc.dialects.task import TASK

    return TASK


GNNC_UNIVERSE = Universe(
    all_dialects={"gnn": get_gnn, "kernel": get_kernel, "task": get_task}, all_passes=get_all_passes()
)
