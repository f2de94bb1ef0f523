"""What a submission prints, bounded, and text that may be sent."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

__all__ = ["CUT", "Capture", "sendable"]

_CAPTURE = 64 << 10
#: The last line of what was printed, where only the beginning was kept.
CUT = re.compile(r"\n… ([\d.]+) MB in all$")


def sendable(text: str) -> str:
    """Text that UTF-8 can carry: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode()


class Capture(io.TextIOWrapper):
    """Keeps the first 64 KiB of what a submission prints; has a ``buffer``, as programs expect."""

    def __init__(self) -> None:
        self._kept = _Bounded()
        self._told = self._seen = 0
        super().__init__(io.BufferedWriter(self._kept), "utf-8", errors="replace", line_buffering=True)

    def text(self) -> str:
        """What was kept; how much there was stands in a last line when some was not."""
        # A submission may have closed it.
        with contextlib.suppress(ValueError, OSError):
            self.flush()
        kept = self._kept.data.decode("utf-8", "replace")
        return kept if self._kept.seen <= _CAPTURE else f"{kept}\n… {self._kept.seen / 1e6:.1f} MB in all"

    def news(self) -> str:
        """What was printed since it was last asked for, as far as it is kept."""
        with contextlib.suppress(ValueError, OSError):
            self.flush()
        if self._kept.seen == self._seen:
            return ""
        self._seen, told, self._told = self._kept.seen, self._told, len(self._kept.data)
        return bytes(self._kept.data[told:]).decode("utf-8", "replace")


class _Bounded(io.RawIOBase):
    """Takes everything and keeps the beginning."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.seen = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self.seen += size
        if (room := _CAPTURE - len(self.data)) > 0:
            self.data += bytes(data[:room])
        return size
