"""What several attempts of a model at a task come to: best, mean, spread, and how likely some of k passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import comb, sqrt

from msgspec import Struct

from judge_tui.checks.attempts import SIGN, attempt_of
from judge_tui.judging.ranking import mean
from judge_tui.judging.rubric import half_up

__all__ = [
    "CAPTION",
    "NUMBERS",
    "STALE",
    "USUAL",
    "Attempt",
    "Attempts",
    "deviation",
    "pass_at",
    "same_answers",
    "table",
    "told",
]

#: The k of pass@k that are told, as far as there are so many attempts.
USUAL = (1, 2, 3, 5, 10, 100)
#: What a reader has to know to read :func:`table`.
CAPTION = (
    "Mean and spread (standard deviation of a sample) are over the attempts with points; the same answer has "
    "the same. An attempt passes where check would exit 0; one without a verdict counts in no figure. pass@k "
    "is the chance that one of k passes, estimated without bias: 1 − C(n − c, k) / C(n, k), where c of n "
    "checked passed."
)
_HEAD = ("Model", "Task", "Attempts")
_POINTS = ("Scored", "Best", "Mean", "Spread")
_VERDICTS = ("Checked", "Passed")
#: How many columns of :func:`table` are texts, before the figures.
NUMBERS = 2
#: Marks points of files that have changed since.
STALE = "†"
_NONE = "–"


def pass_at(k: int, checked: int, passed: int) -> float:
    """The chance that at least one of k attempts passes, without bias (Chen et al., 2021, arXiv 2107.03374).

    Args:
        k: How many; from 1 to ``checked``.
        checked: Attempts with a verdict.
        passed: Those of them that passed.
    """
    return 1.0 - comb(checked - passed, k) / comb(checked, k)


def deviation(values: Sequence[float]) -> float | None:
    """Standard deviation of a sample, with n − 1; ``None`` of less than two values."""
    if len(values) < 2:
        return None
    middle = sum(values) / len(values)
    return sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


class Attempt(Struct, frozen=True):
    """One answer.

    Attributes:
        name: Its name, as ``glm5@2``.
        points: Mean of its judges' points; ``None`` when nobody gave any.
        passed: Whether ``check`` would exit 0 on it; ``None`` where there is no verdict.
        digest: Of its files; empty where there are none.
        stale: Whether points were given to other files than those that are there now.
    """

    name: str
    points: float | None = None
    passed: bool | None = None
    digest: str = ""
    stale: bool = False

    @property
    def number(self) -> str:
        """Which one it is, as ``@2``."""
        return f"{SIGN}{attempt_of(self.name)[1]}"


class Attempts(Struct, frozen=True):
    """All answers of a model to a task.

    Attributes:
        model: Folder name of the model.
        title: Its display name.
        task: Task id.
        attempts: They, by their numbers.
    """

    model: str
    title: str
    task: str
    attempts: tuple[Attempt, ...]

    @property
    def points(self) -> tuple[float, ...]:
        """Points of the attempts that have some; the same answer has the same, whoever was scored of it."""
        told = {
            each.digest: each.points
            for each in reversed(self.attempts)
            if each.digest and each.points is not None and not each.stale
        }
        given = (told.get(each.digest) if each.points is None else each.points for each in self.attempts)
        return tuple(points for points in given if points is not None)

    @property
    def best(self) -> Attempt | None:
        """The one with most points; of equals the first."""
        scored = [each for each in self.attempts if each.points is not None]
        return max(scored, key=lambda each: each.points or 0.0, default=None)

    @property
    def checked(self) -> int:
        """Attempts with a verdict."""
        return sum(each.passed is not None for each in self.attempts)

    @property
    def passed(self) -> int:
        """Attempts that passed."""
        return sum(each.passed is True for each in self.attempts)

    @property
    def pass_at(self) -> dict[int, float]:
        """For the usual k of which there are as many verdicts: k → the chance that one of k passes."""
        return {k: pass_at(k, self.checked, self.passed) for k in USUAL if k <= self.checked}

    @property
    def same(self) -> dict[str, str]:
        """Number of an attempt → number of the first with the same files."""
        numbers = {each.name: each.number for each in self.attempts}
        found = same_answers((each.name, each.digest) for each in self.attempts)
        return {numbers[name]: numbers[first] for name, first in found.items()}


def same_answers(digests: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Name → the first name with the same digest; what has no files is no answer.

    Args:
        digests: Name and digest of each.
    """
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for name, digest in digests:
        if digest and (known := first.setdefault(digest, name)) != name:
            found[name] = known
    return found


def table(rows: Iterable[Attempts]) -> list[list[str]]:
    """Figures of several models and tasks as texts, with a head; nothing where there are none."""
    every = list(rows)
    if not every:
        return []
    shown = [k for k in USUAL if any(k in each.pass_at for each in every)]
    scored, folded = any(each.points for each in every), any(each.same for each in every)
    head = [*_HEAD, *(_POINTS if scored else ()), *_VERDICTS, *(f"pass@{k}" for k in shown)]
    lines = [
        [
            each.title,
            each.task,
            str(len(each.attempts)),
            *(_scored(each) if scored else ()),
            *_checked(each, shown),
            *([_same(each)] if folded else ()),
        ]
        for each in every
    ]
    return [[*head, *(["Same answers"] if folded else ())], *lines]


def _scored(each: Attempts) -> Iterator[str]:
    stale = f" {STALE}" if any(one.stale for one in each.attempts) else ""
    yield f"{len(each.points)} of {len(each.attempts)}{stale}"
    best = each.best
    yield _NONE if best is None else f"{half_up(best.points or 0.0)} ({best.number})"
    yield _tenths(mean(each.points))
    yield _tenths(deviation(each.points))


def _checked(each: Attempts, shown: Sequence[int]) -> Iterator[str]:
    yield f"{each.checked} of {len(each.attempts)}"
    yield str(each.passed) if each.checked else _NONE
    yield from (_share(each.pass_at, k) for k in shown)


def _same(each: Attempts) -> str:
    return ", ".join(f"{number} = {first}" for number, first in each.same.items()) or _NONE


def _tenths(value: float | None) -> str:
    return _NONE if value is None else f"{half_up(value * 10) / 10:.1f}"


def _share(chances: Mapping[int, float], k: int) -> str:
    return f"{half_up(chances[k] * 100)} %" if k in chances else _NONE


def told(each: Attempts) -> list[str]:
    """The figures of one model and task in a few words each."""
    parts = [f"{len(each.attempts)} attempts"]
    if (best := each.best) is not None:
        spread = deviation(each.points)
        around = "" if spread is None else f" ± {_tenths(spread)}"
        parts.append(f"best {half_up(best.points or 0.0)} ({best.number})")
        parts.append(f"mean {_tenths(mean(each.points))}{around} (n = {len(each.points)})")
    if each.checked:
        parts.append(f"{each.passed} of {each.checked} checked pass")
        parts += [f"pass@{k} {_share(each.pass_at, k)}" for k in each.pass_at]
    else:
        parts.append("none checked")
    return [*parts, *([_same(each)] if each.same else [])]
