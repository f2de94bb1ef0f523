"""Which file of a submission is looked at first."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["first_file"]


def first_file(files: Sequence[str], task: str) -> str:
    """The file to open first: the one named after the task, else the largest claim to be the work."""

    def rank(name: str) -> tuple[bool, bool, bool, int, str]:
        stem = name.rsplit("/", 1)[-1].lower()
        test = "test" in stem or "demo" in stem or "bench" in stem or stem.startswith("__")
        code = stem.endswith((".py", ".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp"))
        return (not code, test, task.split("_", maxsplit=1)[0] not in stem, name.count("/"), name)

    return min(files, key=rank)
