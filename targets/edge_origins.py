"""Which edges of the graph the edges of a set are, kept as flags: numbers are made of them only where somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Part:
    """A run of edges within a set: some of a relation's edges in their order, or self-loops that were added.

    `relation` is None for added self-loops. `masks` are boolean: the first has a flag for each of the relation's edges,
    each next one a flag for each edge that the one before it kept.
    """

    relation: str | None
    count: int
    masks: tuple[torch.Tensor, ...] = ()

    def where(self, mask: torch.Tensor) -> Part:
        return Part(self.relation, int(mask.sum()), (*self.masks, mask))

    def numbers(self) -> torch.Tensor:
        """The places of the edges among the relation's, int64; what they are for added self-loops means nothing."""
        numbers = torch.arange(self.masks[0].shape[0] if self.masks else self.count)
        for mask in self.masks:
            numbers = numbers[mask]
        return numbers


def parts_where(parts: Sequence[Part], mask: torch.Tensor) -> tuple[Part, ...]:
    """The parts of the edges for which a mask over all of them is true."""
    masks = mask.split([part.count for part in parts]) if parts else ()
    return tuple(part.where(own) for part, own in zip(parts, masks, strict=True))
