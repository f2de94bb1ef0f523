"""Past comparisons of a workspace, and where each was left: kept in the user's state folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, field, to_builtins

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.storage import write_atomically
from judge_tui.tui.kept import rescue
from judge_tui.tui.look.layout import Sizes

__all__ = ["Past", "PastComparisons"]

_MOST = 30
#: Columns, rows and shares beyond which a size is none.
_MOST_SIZE = 100_000


class Past(Struct, frozen=True):
    """A comparison as it was left.

    Attributes:
        task: Task id.
        models: Folder names, in the order of the panes.
        at: When it was left, or last worked on before that; seconds since the epoch.
        places: Model → file in view and 0-based line of the cursor.
        focus: Model whose code was read last.
        sizes: How large the parts of the screen were made.
    """

    task: str
    models: tuple[str, ...]
    at: float = 0.0
    places: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    focus: str = ""
    sizes: Sizes = field(default_factory=Sizes)

    def __hash__(self) -> int:
        # tables have no hash; what differs in them alone is told apart by equality
        return hash((self.task, self.models, self.at))

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
        raw = to_builtins((past, *others)[:_MOST])
        with suppress(OSError, JudgeError):
            write_atomically(self._path, json.dumps(raw, indent=1).encode())


def _past(raw: Any) -> Past | None:
    """One comparison; ``None`` where it is none, as after an edit by hand."""
    with suppress(ValueError, KeyError, TypeError, AttributeError, OverflowError):
        places = {str(m): (str(file), max(int(line), 0)) for m, (file, line) in raw["places"].items()}
        models = tuple(map(str, raw["models"]))
        if 2 <= len(models) <= 3 and len(set(models)) == len(models):
            sizes = _sizes(raw.get("sizes"), len(models))
            return Past(str(raw["task"]), models, float(raw["at"]), places, str(raw["focus"]), sizes)
    return None


def _sizes(raw: Any, panes: int) -> Sizes:
    """Sizes of the parts; those of a new comparison where there are none, or wrong ones."""
    with suppress(KeyError, TypeError):
        found = Sizes(raw["rubric"], raw["checks"], tuple(raw["shares"]))
        numbers = (found.rubric, found.checks, *found.shares)
        usual = all(type(number) is int and abs(number) < _MOST_SIZE for number in numbers)
        if usual and len(found.shares) in (0, panes) and min(found.shares, default=1) > 0:
            return found
    return Sizes()
