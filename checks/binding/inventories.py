"""What the files of a submission define: imported once, what ends the process left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault
from judge_tui.checks.sources import is_side_program, python_files
from judge_tui.checks.submission import ADAPTER

__all__ = ["Casualties", "Inventories", "inventories"]

#: File → what it defines (see ``worker/describe.py``).
Inventories = Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class Casualties:
    """What ended a process while roles were looked for, so that the next search leaves it alone.

    Attributes:
        files: File → what its import did.
        calls: Role → ``file.py:name`` → what calling it did.
    """

    files: dict[str, Fault] = field(default_factory=dict)
    calls: dict[str, dict[str, Fault]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files) + sum(map(len, self.calls.values()))


def inventories(
    worker: Worker, casualties: Casualties | None = None
) -> tuple[dict[str, Mapping[str, Any]], dict[str, Fault]]:
    """Import the files that may hold roles: not tests, demos and benchmarks, unless there is nothing else.

    Args:
        worker: Where the submission is.
        casualties: Files that are not tried again; one that ends the process is added.

    Returns:
        File → inventory, and file → why it could not be imported.
    """
    files = [file for file in python_files(worker.submission) if file != ADAPTER]
    main = [file for file in files if not is_side_program(file)] or list(files)
    loaded: dict[str, Mapping[str, Any]] = {}
    casualties = casualties if casualties is not None else Casualties()
    broken = dict(casualties.files)
    for file in [*main, *([ADAPTER] if worker.submission.adapter else [])]:
        if file in casualties.files:
            continue
        try:
            loaded[file] = worker.load(file)
        except Fault as fault:
            broken[file] = fault
            if not worker.alive:
                casualties.files[file] = fault
                raise
    return loaded, broken
