"""What the records of a stream must say about each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnnc.targets.fpga.stream import layout
from gnnc.targets.fpga.stream.contents import Stream, tile_sizes
from gnnc.targets.fpga.stream.faults import require
from gnnc.targets.fpga.stream.layout import NONE, UNKNOWN, Activation, Format, KernelKind, Role, Section


def check_operands(stream: Stream, at: int) -> None:
    n1, n2, nodes = int(stream.header["n1"]), int(stream.header["n2"]), stream.nodes
    for place, operand in enumerate(stream.operands):
        here = at + place * layout.OPERAND.bytes
        require(operand["role"] in list(Role), here, f"operand {place} has the unknown role {operand['role']}")
        require(operand["is_vector"] <= 1, here, f"operand {place} is neither a vector nor a matrix")
        side = n1 if operand["role"] == Role.ADJACENCY else n2
        tile = int(operand["tile_rows"]), int(operand["tile_columns"])
        require(tile == (side, side), here, f"operand {place} has tiles of {tile[0]} x {tile[1]}, not {side} x {side}")
        rows, columns = int(operand["rows"]), int(operand["columns"])
        require(0 < columns < 2**40, here, f"operand {place} has {columns} columns")
        expected = rows if operand["role"] == Role.WEIGHT else nodes
        require(0 < rows < 2**40 and rows == expected, here, f"operand {place} has {rows} rows, not {expected}")
        nonzeros = int(operand["nonzeros"])
        computed = operand["role"] == Role.INTERMEDIATE
        require((nonzeros == UNKNOWN) == computed, here, f"operand {place} is known and computed, or neither")
        require(computed or nonzeros <= rows * columns, here, f"operand {place} has more nonzeros than numbers")
        check_name(operand, place, here)


def check_name(operand: Any, place: int, here: int) -> None:
    length = int(operand["name_bytes"])
    require(length <= 24, here, f"the name of operand {place} has {length} bytes")
    try:
        bytes(operand["name"])[:length].decode()
    except UnicodeDecodeError:
        require(False, here, f"the name of operand {place} is no UTF-8")


def check_directory(stream: Stream, owner: int, at: int) -> None:
    """Block rows follow each other, columns ascend within one, tiles hold what fits them."""
    operand, directory = stream.operands[owner], stream.directories[owner]
    starts, tiles = directory.starts, directory.tiles
    ordered = int(starts[0]) == 0 and int(starts[-1]) == len(tiles) and bool((starts[1:] >= starts[:-1]).all())
    require(ordered, at, f"the block rows of operand {owner} don't follow each other")
    entries = at + 8 * len(starts)
    block_columns = -(-int(operand["columns"]) // int(operand["tile_columns"]))
    columns = tiles["column"].astype(np.int64)
    first_bad(columns >= block_columns, entries, f"operand {owner} has a tile beyond its block columns")
    heads = np.zeros(len(tiles) + 1, bool)
    heads[starts.astype(np.int64)] = True
    falls = np.append(np.diff(columns) <= 0, False)
    first_bad(falls & ~heads[1:], entries, f"the block columns of operand {owner} don't ascend")
    heights, widths = tile_sizes(operand, directory)
    nonzeros = tiles["nonzeros"].astype(np.int64)
    first_bad((nonzeros < 1) | (nonzeros > heights * widths), entries, f"a tile of operand {owner} can't hold so many")
    distinct = tiles["distinct"].astype(np.int64)
    wrong = (distinct < 1) | (distinct > np.minimum(widths, nonzeros))
    first_bad(wrong, entries, f"a tile of operand {owner} can't have so many distinct columns")
    first_bad(~np.isin(tiles["format"], list(Format)), entries, f"a tile of operand {owner} has an unknown format")


def check_factors(stream: Stream, place: int, at: int) -> None:
    """An adjacency has one factor a row and one a column."""
    operand, factors = stream.operands[place], stream.factors[place]
    require(operand["role"] == Role.ADJACENCY, at, f"operand {place} has factors and is no adjacency")
    count = int(operand["rows"]) + int(operand["columns"])
    require(len(factors) == count, at, f"operand {place} has {len(factors)} factors, not {count}")


def first_bad(wrong: Any, entries: int, reason: str) -> None:
    """Raises StreamError at the first directory entry that is wrong."""
    if wrong.any():
        require(False, entries + int(np.argmax(wrong)) * layout.DIRECTORY_BYTES, reason)


def check_kernels(stream: Stream, offsets: dict[Section, int]) -> None:
    require(len(stream.kernels) > 0, offsets[Section.KERNELS], "there is no kernel")
    task = segment = link = 0
    computed: set[int] = set()
    for index, kernel in enumerate(stream.kernels):
        here = offsets[Section.KERNELS] + index * layout.KERNEL.bytes
        check_kernel(stream, kernel, index, here, computed)
        follows = (int(kernel["first_task"]), int(kernel["first_segment"]), int(kernel["first_addend"]))
        require(follows == (task, segment, link), here, f"kernel {index} does not follow the one before")
        link += int(kernel["addends"])
        require(
            int(kernel["first_residual"]) == link, here, f"the residuals of kernel {index} don't follow its addends"
        )
        link += int(kernel["residuals"])
        task += int(kernel["grid_rows"]) * int(kernel["grid_columns"])
        last = segment + int(kernel["segments"])
        require(segment < last <= len(stream.segments), here, f"kernel {index} has no segments, or too many")
        for place in range(segment, last):
            check_segment(stream, kernel, place, offsets[Section.SEGMENTS] + place * layout.SEGMENT.bytes, computed)
        segment = last
        require(link <= len(stream.links), here, f"kernel {index} has more links than there are")
        check_links(stream, kernel, here, computed)
        computed.add(int(kernel["output"]))
    require(segment == len(stream.segments), offsets[Section.SEGMENTS], "there are segments of no kernel")
    require(link == len(stream.links), offsets[Section.LINKS], "there are links of no kernel")
    check_order(stream, offsets[Section.KERNELS])


def check_kernel(stream: Stream, kernel: Any, index: int, here: int, computed: set[int]) -> None:
    n1, n2 = int(stream.header["n1"]), int(stream.header["n2"])
    require(kernel["kind"] in list(KernelKind), here, f"kernel {index} is of the unknown kind {kernel['kind']}")
    require(kernel["activation"] in list(Activation), here, f"kernel {index} has an unknown activation")
    require(bool(np.isfinite(kernel["parameter"])), here, f"the activation of kernel {index} has no number")
    output = int(kernel["output"])
    fits = output < len(stream.operands) and output not in computed
    require(fits and stream.operands[output]["role"] == Role.INTERMEDIATE, here, f"kernel {index} computes no operand")
    require(int(stream.operands[output]["source"]) == index, here, f"operand {output} is of another kernel")
    height = n1 if kernel["kind"] == KernelKind.AGGREGATE else n2
    tile = int(kernel["tile_rows"]), int(kernel["tile_columns"])
    require(tile == (height, n2), here, f"the output tiles of kernel {index} are not {height} x {n2}")
    width = int(stream.operands[output]["columns"])
    grid = -(-stream.nodes // height), -(-width // n2)
    said = int(kernel["grid_rows"]), int(kernel["grid_columns"])
    require(said == grid, here, f"the grid of kernel {index} is {said[0]} x {said[1]}, not {grid[0]} x {grid[1]}")
    require(1 <= int(kernel["fusion"]) <= grid[1], here, f"kernel {index} can't make {kernel['fusion']} tiles a task")
    for name in ("scale", "bias"):
        place = int(kernel[name])
        vector = place < len(stream.operands) and bool(stream.operands[place]["is_vector"])
        require(place == NONE or vector, here, f"the {name} of kernel {index} is no vector")
        wide = place == NONE or int(stream.operands[place]["columns"]) == width
        require(wide, here, f"the {name} of kernel {index} has another width")


def check_segment(stream: Stream, kernel: Any, place: int, here: int, computed: set[int]) -> None:
    segment = stream.segments[place]
    lhs, rhs = int(segment["lhs"]), int(segment["rhs"])
    for side in (lhs, rhs):
        require(side < len(stream.operands), here, f"segment {place} names operand {side}, which does not exist")
        require_ready(stream, side, here, computed)
    aggregate = kernel["kind"] == KernelKind.AGGREGATE
    x, y = stream.operands[lhs], stream.operands[rhs]
    require((x["role"] == Role.ADJACENCY) == aggregate, here, f"the left side of segment {place} is of the wrong role")
    require((y["role"] == Role.WEIGHT) != aggregate, here, f"the right side of segment {place} is of the wrong role")
    require(not (x["is_vector"] or y["is_vector"]), here, f"segment {place} multiplies a vector")
    size = int(stream.header["n1"] if aggregate else stream.header["n2"])
    extent = int(x["columns"])
    require(extent == int(y["rows"]), here, f"the sides of segment {place} don't meet")
    same = int(stream.operands[int(kernel["output"])]["columns"]) == int(y["columns"])
    require(same, here, f"segment {place} is not as wide as the output")
    said = int(segment["inner_size"]), int(segment["inner_extent"]), int(segment["inner"])
    require(said == (size, extent, -(-extent // size)), here, f"the inner list of segment {place} is of another length")


def require_ready(stream: Stream, place: int, here: int, computed: set[int]) -> None:
    """An intermediate value must be computed by a kernel before."""
    waits = stream.operands[place]["role"] == Role.INTERMEDIATE and place not in computed
    require(not waits, here, f"operand {place} is used before it is computed")


def check_links(stream: Stream, kernel: Any, here: int, computed: set[int]) -> None:
    first = int(kernel["first_addend"])
    width = int(stream.operands[int(kernel["output"])]["columns"])
    for place in stream.links[first : first + int(kernel["addends"]) + int(kernel["residuals"])]:
        known = int(place) < len(stream.operands)
        require(known, here, f"a link names operand {place}, which does not exist")
        require_ready(stream, int(place), here, computed)
        operand = stream.operands[int(place)]
        matrix = operand["role"] in (Role.FEATURES, Role.INTERMEDIATE) and int(operand["columns"]) == width
        require(matrix, here, f"operand {place} can't be added to an output of {width} columns")


def check_order(stream: Stream, at: int) -> None:
    """An explicit order has every task of its kernel once."""
    first = 0
    for index, kernel in enumerate(stream.kernels):
        here = at + index * layout.KERNEL.bytes
        if int(kernel["first_order"]) == UNKNOWN:
            continue
        require(int(kernel["first_order"]) == first, here, f"the order of kernel {index} does not follow")
        count = int(kernel["grid_rows"]) * int(kernel["grid_columns"])
        require(first + count <= len(stream.order), here, f"the order of kernel {index} has not all its tasks")
        tasks = np.sort(stream.order[first : first + count])
        require(bool((tasks == np.arange(count)).all()), here, f"the order of kernel {index} has a task twice")
        first += count
    require(first == len(stream.order), at, "there are ordered tasks of no kernel")
