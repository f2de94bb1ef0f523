"""Past comparisons of a workspace, and where each was left: kept in the user's state folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.storage import write_atomically
from judge_tui.tui.desk import rescue

__all__ = ["Past", "PastComparisons"]

_MOST = 30


@dataclass(frozen=True, slots=True)
class Past:
    """A comparison as it was left.

    Attributes:
        task: Task id.
        models: Folder names, in the order of the panes.
        at: When it was left, seconds since the epoch.
        places: Model → file in view and 0-based line of the cursor.
        focus: Model whose code was read last.
    """

    task: str
    models: tuple[str, ...]
    at: float = 0.0
    places: Mapping[str, tuple[str, int]] = field(default_factory=dict, hash=False)
    focus: str = ""

    def same_as(self, task: str, models: Sequence[str]) -> bool:
        """Whether it is about these submissions."""
        return self.task == task and set(self.models) == set(models)

    @property
    def place(self) -> tuple[str, int] | None:
        """The file and line that were read last."""
        return self.places.get(self.focus)


class PastComparisons:
    """The list of a workspace and judge; what is wrong with its file costs the list and nothing else.

    Args:
        root: The workspace's folder.
        judge: Who judged.
    """

    def __init__(self, root: Path, judge: str) -> None:
        self._path = rescue.place(root / judge, "past", ".json")

    def read(self) -> tuple[Past, ...]:
        """The comparisons, the last one first."""
        with suppress(OSError, ValueError, TypeError, RecursionError):
            return tuple(past for raw in json.loads(self._path.read_text("utf-8")) if (past := _past(raw)))
        return ()

    def find(self, task: str, models: Sequence[str]) -> Past | None:
        """How a comparison of these submissions was left."""
        return next((past for past in self.read() if past.same_as(task, models)), None)

    def keep(self, past: Past) -> None:
        """Put a comparison at the top."""
        others = [old for old in self.read() if not old.same_as(past.task, past.models)]
        raw = [asdict(one) for one in (past, *others)[:_MOST]]
        with suppress(OSError, JudgeError):
            write_atomically(self._path, json.dumps(raw, indent=1).encode())


def _past(raw: Any) -> Past | None:
    """One comparison; ``None`` where it is none, as after an edit by hand."""
    with suppress(ValueError, KeyError, TypeError, AttributeError, OverflowError):
        places = {str(m): (str(file), max(int(line), 0)) for m, (file, line) in raw["places"].items()}
        models = tuple(map(str, raw["models"]))
        if 2 <= len(models) <= 3 and len(set(models)) == len(models):
            return Past(str(raw["task"]), models, float(raw["at"]), places, str(raw["focus"]))
    return None
