"""What is wrong with a stream, and where."""

from __future__ import annotations


class StreamError(ValueError):
    """A task stream is damaged or malformed: `offset` from the start of the file, and the reason."""

    def __init__(self, offset: int, reason: str):
        super().__init__(f"byte {offset}: {reason}")
        self.offset = offset
        self.reason = reason


def require(holds: bool, offset: int, reason: str) -> None:
    """Raises StreamError unless something holds."""
    if not holds:
        raise StreamError(offset, reason)
