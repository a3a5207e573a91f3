"""What a product of given features and a weight costs, read as a dense array or as compressed sparse rows."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class ProductPrices:
    """Measured on products of several sizes: one for each count of columns that are summed over and, within it, one for
    each width of the result. `dense` are the picoseconds of a floating-point operation of the dense product,
    `crossovers` the densities at which sparse rows take as long.
    """

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    dense: tuple[float, ...]
    crossovers: tuple[float, ...]

    def __post_init__(self) -> None:
        cells = len(self.columns) * len(self.widths)
        if not cells or len(self.dense) != cells or len(self.crossovers) != cells:
            sizes = f"{len(self.columns)} columns and {len(self.widths)} widths"
            raise ValueError(f"{sizes} need {cells} prices of dense products and as many crossovers")

    def cell(self, columns: int, width: int) -> int:
        """The place of the measured product that is most like one of this size."""
        return nearest(self.columns, columns) * len(self.widths) + nearest(self.widths, width)

    def crossover(self, columns: int, width: int) -> float:
        """The density below which sparse rows are faster."""
        return self.crossovers[self.cell(columns, width)]

    def dense_price(self, columns: int, width: int) -> float:
        """Picoseconds a row."""
        return 2 * columns * width * self.dense[self.cell(columns, width)]

    def sparse_price(self, columns: int, width: int, density: float) -> float:
        """Picoseconds a row: in proportion to the density, and as much as a dense row at the crossover."""
        return self.dense_price(columns, width) * density / max(self.crossover(columns, width), 1e-9)


def nearest(sizes: tuple[int, ...], size: int) -> int:
    """The place of the size whose ratio to this one is closest to 1."""
    return min(range(len(sizes)), key=lambda place: abs(math.log(sizes[place] / max(1, size))))


DEFAULT_PRICES = ProductPrices(
    columns=(32, 128, 512, 2048, 8192),
    widths=(16, 64, 128, 256),
    dense=(
        *(14.3, 11.4, 10.9, 10.6),
        *(13.3, 10.4, 10.0, 9.7),
        *(13.9, 10.4, 10.3, 10.7),
        *(25.3, 13.1, 11.4, 10.9),
        *(23.0, 12.9, 11.4, 11.0),
    ),
    crossovers=(
        *(0.16, 0.12, 0.14, 0.13),
        *(0.30, 0.23, 0.21, 0.17),
        *(0.34, 0.23, 0.22, 0.19),
        *(0.54, 0.26, 0.20, 0.18),
        *(0.43, 0.18, 0.15, 0.13),
    ),
)
"""Where nothing has been measured: one core of an AMD EPYC (Zen 4), torch 2.13 with MKL, November 2026."""
