"""A stream in words and as JSON: what `gnnc inspect stream.bin` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnnc.targets.fpga.stream.contents import Stream
from gnnc.targets.fpga.stream.layout import NONE, UNKNOWN, Activation, Format, KernelKind, Role, Section


def as_json(stream: Stream) -> dict[str, Any]:
    """Everything but the tiles and the numbers."""
    return {
        "format": [int(stream.header["major"]), int(stream.header["minor"])],
        "nodes": stream.nodes,
        "n1": int(stream.header["n1"]),
        "n2": int(stream.header["n2"]),
        "architecture": architecture(stream),
        "operands": [operand(stream, place) for place in range(len(stream.operands))],
        "kernels": [kernel(stream, index) for index in range(len(stream.kernels))],
        "sections": [
            {"kind": kind, "owner": owner, "offset": offset, "bytes": size}
            for kind, owner, offset, size in stream.sections
        ],
    }


def architecture(stream: Stream) -> dict[str, Any]:
    record = stream.architecture[0]
    names = [name for name in record.dtype.names if name != "name"]
    return {"name": bytes(record["name"]).rstrip(b"\0").decode(errors="replace"), **{n: int(record[n]) for n in names}}


def operand(stream: Stream, place: int) -> dict[str, Any]:
    record = stream.operands[place]
    known = int(record["nonzeros"]) != UNKNOWN
    described: dict[str, Any] = {
        "name": stream.operand_name(place),
        "role": Role(int(record["role"])).name.lower(),
        "shape": [int(record["rows"]), int(record["columns"])],
        "nonzeros": int(record["nonzeros"]) if known else None,
    }
    directory = stream.directories.get(place)
    if directory is not None:
        tiles = directory.tiles
        grid = len(directory.starts) - 1, -(-int(record["columns"]) // int(record["tile_columns"]))
        described |= {
            "tile": [int(record["tile_rows"]), int(record["tile_columns"])],
            "grid": list(grid),
            "nonempty_tiles": len(tiles),
            "dense_tiles": int(np.count_nonzero(tiles["format"] == Format.DENSE)),
        }
    described["has_factors"] = place in stream.factors
    if place in stream.images:
        described["image_bytes"] = 4 * len(stream.images[place])
    return described


def kernel(stream: Stream, index: int) -> dict[str, Any]:
    record = stream.kernels[index]
    first, count = int(record["first_segment"]), int(record["segments"])
    links = [stream.operand_name(int(place)) for place in stream.links]
    addend, residual = int(record["first_addend"]), int(record["first_residual"])
    grid = int(record["grid_rows"]), int(record["grid_columns"])
    return {
        "kind": KernelKind(int(record["kind"])).name.lower(),
        "layer": int(record["layer"]),
        "output": stream.operand_name(int(record["output"])),
        "products": [segment(stream, place) for place in range(first, first + count)],
        "addends": links[addend : addend + int(record["addends"])],
        "residuals": links[residual : residual + int(record["residuals"])],
        "scale": vector(stream, int(record["scale"])),
        "bias": vector(stream, int(record["bias"])),
        "activation": Activation(int(record["activation"])).name.lower(),
        "parameter": float(record["parameter"]),
        "grid": list(grid),
        "tile": [int(record["tile_rows"]), int(record["tile_columns"])],
        "tasks": [int(record["first_task"]), int(record["first_task"]) + grid[0] * grid[1]],
        "fusion": int(record["fusion"]),
        "explicit_order": int(record["first_order"]) != UNKNOWN,
    }


def segment(stream: Stream, place: int) -> dict[str, Any]:
    record = stream.segments[place]
    names = stream.operand_name(int(record["lhs"])), stream.operand_name(int(record["rhs"]))
    return {"lhs": names[0], "rhs": names[1], "inner": int(record["inner"]), "inner_size": int(record["inner_size"])}


def vector(stream: Stream, place: int) -> str | None:
    return None if place == NONE else stream.operand_name(place)


def as_text(stream: Stream) -> str:
    """The disassembly."""
    described = as_json(stream)
    a = described["architecture"]
    lines = [
        f"task stream {described['format'][0]}.{described['format'][1]}, {described['nodes']:,} nodes, "
        f"N1 {described['n1']}, N2 {described['n2']}",
        f"for {a['name']}: {a['cores']} cores of {a['p_sys']} x {a['p_sys']}, {a['clock_khz'] // 1000} MHz",
        "",
        "operands",
    ]
    lines += [operand_line(entry) for entry in described["operands"]]
    lines += ["", "kernels"]
    for entry in described["kernels"]:
        lines += kernel_lines(entry)
    lines += ["", "sections"]
    for entry in described["sections"]:
        named = entry["kind"] in [kind.name.lower() for kind in (Section.DIRECTORY, Section.IMAGE, Section.FACTORS)]
        owner = f" of {stream.operand_name(entry['owner'])}" if named else ""
        lines.append(f"  {entry['offset']:>12,} {entry['bytes']:>14,} bytes  {entry['kind']}{owner}")
    return "\n".join(lines)


def operand_line(entry: dict[str, Any]) -> str:
    rows, columns = entry["shape"]
    nonzeros = "? until run time" if entry["nonzeros"] is None else f"{entry['nonzeros']:,} nonzeros"
    line = f"  {entry['name']:8} {entry['role']:13} {rows:>9,} x {columns:<8,} {nonzeros}"
    if "nonempty_tiles" in entry:
        grid = entry["grid"]
        line += f" in {entry['nonempty_tiles']:,} of {grid[0] * grid[1]:,} tiles of {entry['tile'][0]}"
        line += ", numbers from factors" if entry["has_factors"] else ""
    return line


def kernel_lines(entry: dict[str, Any]) -> list[str]:
    products = [f"{p['lhs']} @ {p['rhs']} [inner {p['inner']:,} of {p['inner_size']}]" for p in entry["products"]]
    text = " + ".join([*products, *entry["addends"]])
    text = f"({text}) * {entry['scale']}" if entry["scale"] else text
    text = f"{text} + {entry['bias']}" if entry["bias"] else text
    text = f"{entry['activation']}({text})" if entry["activation"] != "none" else text
    text = " + ".join([text, *entry["residuals"]])
    first, last = entry["tasks"]
    grid, tile = entry["grid"], entry["tile"]
    across = "one a task" if entry["fusion"] == 1 else f"up to {entry['fusion']} across a task"
    order = ", in an order of their own" if entry["explicit_order"] else ""
    return [
        f"  layer {entry['layer']} {entry['kind']:9} {entry['output']} = {text}",
        f"    tasks {first:,} to {last - 1:,}: grid {grid[0]:,} x {grid[1]:,} of tiles {tile[0]} x {tile[1]}, "
        f"{across}{order}",
    ]
