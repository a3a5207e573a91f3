"""The errors that gnnc raises. Each message names the input, the place and what to do."""

from __future__ import annotations


class GnncError(Exception):
    """The base of every error that gnnc raises about what it was given."""


class GraphError(GnncError):
    """A graph is malformed or a graph file unreadable, or a graph does not have what the model asks for."""


class ModelError(GnncError):
    """A model could not be had from the file or module that should make it, or its weights do not fit it."""


class RunError(GnncError):
    """The arguments of a run do not fit the program: a node that does not exist, features of another width."""


class CaptureError(GnncError):
    """`torch.export` could not capture the model: it branches on values, say, or calls code that torch cannot trace.

    `reason` holds torch's own words, empty if torch gave none.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class UnsupportedModelError(GnncError):
    """The model was captured, but gnnc cannot prove that it would compute exactly what the model does, and refuses.

    `reason` says why, `op` names the operation and `source` the line of the model (`file.py:12`) that it came from;
    the last two are empty where they are not known.
    """

    def __init__(self, reason: str, *, op: str = "", source: str = "") -> None:
        place = f"{op} at {source}" if op and source else op or source
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason = reason
        self.op = op
        self.source = source


class ArtifactError(GnncError):
    """An artifact is damaged, incomplete, of a newer format, or can't be written."""
