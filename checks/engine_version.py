"""What makes verdicts of two machines comparable: the engine's files, byte for byte, and its libraries."""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

import msgspec

__all__ = ["EngineVersion", "engine_version"]

#: The emulator's headers and runtime are the engine's as well.
_SOURCES = frozenset({".py", ".h", ".cuh", ".cpp", ".ld", ".md"})


class EngineVersion(msgspec.Struct, frozen=True):
    """Of an engine.

    Attributes:
        sources: ``sha256:…`` over names and contents of its files; never over their times.
        numpy: Version of NumPy.
        python: Version of Python, without its last part.
    """

    sources: str
    numpy: str
    python: str

    def differs(self, other: EngineVersion) -> str:
        """In what another one differs, as a clause; empty where it does not."""
        if self.numpy != other.numpy:
            return f"NumPy {other.numpy} in place of {self.numpy}"
        if self.python != other.python:
            return f"Python {other.python} in place of {self.python}"
        return "" if self.sources == other.sources else "another version of judge-tui's checks"


@functools.cache
def engine_version() -> EngineVersion:
    """That of this process."""
    root, total = Path(__file__).parent, hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.suffix in _SOURCES):
        total.update(path.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    python = ".".join(platform.python_version_tuple()[:2])
    return EngineVersion(f"sha256:{total.hexdigest()}", version("numpy"), python)
