"""Which line of the user's model a traced call came from."""

from __future__ import annotations

import re

from torch.fx import Node

from gnnc.frontend.traced_values import SourceLine

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in [^\n]*\n\s*(?P<code>[^\n]*)')


def source_line(node: Node) -> SourceLine | None:
    """The outermost frame of the call: the line of the user's own forward, above any library's layers."""
    match = _FRAME.search(node.meta.get("stack_trace") or "")
    if match is None:
        return None
    return SourceLine(match["file"], int(match["line"]), match["code"].strip())
