"""Which line of the user's model a traced call came from."""

from __future__ import annotations

import re
from pathlib import Path

from torch.fx import Node

from gnnc.frontend.traced_values import SourceLine

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in [^\n]*\n\s*(?P<code>[^\n]*)')


_FRONT_END = str(Path(__file__).parent)


def source_line(node: Node) -> SourceLine | None:
    """The outermost frame of the call: the line of the user's own forward, above any library's layers."""
    frames = _FRAME.finditer(node.meta.get("stack_trace") or "")
    match = next((frame for frame in frames if not frame["file"].startswith(_FRONT_END)), None)
    return None if match is None else SourceLine(match["file"], int(match["line"]), match["code"].strip())
