"""Who runs the batches of a block."""

import torch

from gnnc.targets.gpu.arena import Arena
from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.workers import SMALL_ROOM, Workers


def test_operations_of_small_batches_are_not_shared() -> None:
    seen: list[int] = []

    def work(batch: Batch, arena: Arena, threads: int) -> None:
        assert threads == 3, "kernels share what there is"
        seen.append(torch.get_num_threads())

    for room in (SMALL_ROOM, SMALL_ROOM + 1, None):
        Workers().run(work, [Batch(range(1), "cpu")], 3, share=False, done=lambda: None, room=room)
    assert seen == [1, 3, 3]
