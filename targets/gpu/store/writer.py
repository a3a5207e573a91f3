"""A thread that writes rows while the next ones are computed, and journals them once they are on disk."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gnnc.targets.gpu.background import background
from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.journal import Journal


@dataclass(frozen=True)
class Write:
    """Rows on their way: what writes them, their bytes, and the files they go to."""

    write: Callable[[], None]
    files: tuple[ArrayFile, ...]
    bytes: int
    record: dict[str, Any]


class Writer:
    """Writes in the order of `put`. A record is journaled when its rows are synced; rows that come meanwhile are synced
    together. What goes wrong is raised by the next `put`, or by `finish`."""

    def __init__(self, journal: Journal, room: int):
        """At most `room` bytes wait."""
        self.journal = journal
        self.room = room
        self.waiting: queue.SimpleQueue[Write | None] = queue.SimpleQueue()
        self.held = 0
        self.changed = threading.Condition()
        self.error: BaseException | None = None
        self.ended = background().submit(self.work)

    def put(self, write: Write) -> None:
        """Hands rows over, as soon as there is room. Raises what an earlier write raised."""
        with self.changed:
            while self.error is None and self.held and self.held + write.bytes > self.room:
                self.changed.wait()
            self.check()
            self.held += write.bytes
        self.waiting.put(write)

    def check(self) -> None:
        if self.error is not None:
            raise self.error

    def flush(self) -> None:
        """Waits until everything is journaled."""
        with self.changed:
            while self.held and self.error is None:
                self.changed.wait()
            self.check()

    def close(self) -> None:
        """Ends the thread; what waits is still written."""
        self.waiting.put(None)
        self.ended.result()

    def work(self) -> None:
        while (first := self.waiting.get()) is not None:
            batch = [first]
            try:
                first.write()
                while not self.waiting.empty() and sum(w.bytes for w in batch) < self.room // 2:
                    following = self.waiting.get()
                    if following is None:
                        self.waiting.put(None)
                        break
                    following.write()
                    batch.append(following)
                for file in {id(f): f for write in batch for f in write.files}.values():
                    file.sync()
                self.journal.append(*(write.record for write in batch))
            except BaseException as error:
                with self.changed:
                    self.error = error
                    self.changed.notify_all()
                return
            with self.changed:
                self.held -= sum(write.bytes for write in batch)
                self.changed.notify_all()
