"""Rubrics: the dimensions, levels, caps and letters that a person judges by.

A workspace may hold ``rubrics/<task>.toml``; otherwise the rubric that is shipped with
judge-tui applies. A digest identifies the wording that a scorecard was written under.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.document import Table, read_document
from judge_tui.judging.rubric_mistakes import refuse_mistakes

__all__ = [
    "CLAUSE", "Cap", "Dimension", "Grade", "Rubric", "default_rubric", "default_rubric_path", "default_tasks",
    "half_up", "load_rubric", "own_rubric", "parsed_rubric",
]  # fmt: skip

_VERBS = {"fails": Verdict.FAIL, "warns": Verdict.WARN, "passes": Verdict.PASS}
#: Larger weights would leave the range of numbers when they are added up.
_HEAVIEST = 1_000_000_000
#: One part of a cap's condition: a check and what it says.
CLAUSE = re.compile(r"([a-z0-9_]+) (fails|warns|passes)")


class Dimension(Struct, frozen=True):
    """One thing that a person scores.

    Attributes:
        id: Name in files.
        title: Name on screen.
        key: The key that selects it.
        weight: Share in the weighted mean, relative to the others.
        description: What it is about.
        levels: Score → what earns it, ascending.
        checks: Ids of the checks that inform it.
    """

    id: str
    title: str
    key: str
    weight: float
    description: str
    levels: Mapping[int, str]
    checks: tuple[str, ...]

    def level(self, score: int | None) -> tuple[int, str] | None:
        """The highest level that a score reaches, or ``None`` below the first and for no score."""
        reached = [(at, text) for at, text in self.levels.items() if score is not None and at <= score]
        return max(reached, default=None)


class Cap(Struct, frozen=True):
    """A limit on a dimension that a check's verdict sets.

    Attributes:
        when: ``"x fails"``, joined by ``or`` and ``and`` (``and`` binds tighter).
        dimension: Id of the limited dimension.
        max: Highest score that stands without an explanation.
        reason: Why.
    """

    when: str
    dimension: str
    max: int
    reason: str

    def met(self, outcomes: Mapping[str, Verdict | str]) -> str:
        """The part of the condition that the verdicts, by check id, meet; an absent one meets nothing."""
        options = self.when.split(" or ")
        return " and ".join(
            option for option in options if all(_holds(clause, outcomes) for clause in option.split(" and "))
        )


def _holds(clause: str, outcomes: Mapping[str, Verdict | str]) -> bool:
    check, verb = clause.strip().rsplit(" ", 1)
    return outcomes.get(check) == _VERBS[verb]


class Grade(Struct, frozen=True):
    """A letter and the least score that earns it."""

    letter: str
    min: int


class Rubric(Struct, frozen=True):
    """What a person judges one task by.

    Attributes:
        task: Task id.
        title: The task's name on screen.
        version: Counts changes of meaning.
        dimensions: In the order of the file.
        caps: Limits set by verdicts.
        grades: Letters, best first.
        digest: ``sha256:…`` of the file's bytes.
    """

    task: str
    title: str
    version: int
    dimensions: tuple[Dimension, ...]
    caps: tuple[Cap, ...]
    grades: tuple[Grade, ...]
    digest: str

    def dimension(self, name: str) -> Dimension:
        """The dimension of that id.

        Raises:
            UsageError: There is none; the hint lists them.
        """
        for dimension in self.dimensions:
            if dimension.id == name:
                return dimension
        ids = ", ".join(d.id for d in self.dimensions)
        raise UsageError(f"the rubric of {self.task} has no dimension '{name}'.", hint=f"It has: {ids}.")

    def weighted_mean(self, scores: Mapping[str, int | None]) -> float | None:
        """Mean of the scored dimensions by weight; ``None`` when nothing is scored."""
        scored = [(d.weight, s) for d in self.dimensions if (s := scores.get(d.id)) is not None]
        total = sum(weight for weight, _ in scored)
        return sum(weight * score for weight, score in scored) / total if total else None

    def letter(self, score: float | None) -> str:
        """The letter that a score earns, rounded half up; empty for no score or no bands."""
        if score is None:
            return ""
        return next((g.letter for g in self.grades if half_up(score) >= g.min), "")

    def caps_for(self, outcomes: Mapping[str, Verdict | str]) -> tuple[Cap, ...]:
        """The caps that bite under these verdicts, by check id; ``when`` says only what they meet of it."""
        return tuple(replace(cap, when=met) for cap in self.caps if (met := cap.met(outcomes)))


def half_up(value: float) -> int:
    """Round to a whole number, halves away from zero: 92.5 → 93.

    Noise of the last binary digits is dropped first, so that a mean of 92.49999999999999
    which stands for 92.5 gives 93 too.
    """
    return int(Decimal(repr(round(value, 9))).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def load_rubric(path: Path) -> Rubric:
    """Read a rubric file.

    Raises:
        WorkspaceError: The file is unreadable, malformed, or contradicts itself.
    """
    return parsed_rubric(read_document(path))


def parsed_rubric(document: Table) -> Rubric:
    """Read the document of a rubric.

    Raises:
        WorkspaceError: It is malformed, or contradicts itself.
    """
    refuse_mistakes(document)
    dimensions = tuple(_dimension(table) for table in document.tables("dimension"))
    if not dimensions:
        raise document.fault("a rubric needs at least one [[dimension]]")
    caps = tuple(_cap(table, {d.id for d in dimensions}) for table in document.tables("cap"))
    grades = [_grade(table) for table in document.tables("grade")]
    return Rubric(
        task=document.string("task", document.file.stem),
        title=document.string("title", document.file.stem),
        version=document.integer("version", 1),
        dimensions=dimensions,
        caps=caps,
        grades=tuple(sorted(grades, key=lambda grade: -grade.min)),
        digest=f"sha256:{hashlib.sha256(document.text.encode()).hexdigest()}",
    )


def own_rubric(path: Path, task: str) -> Rubric:
    """Read the rubric that a workspace has for a task.

    Raises:
        WorkspaceError: It is unreadable or malformed, or for another task.
    """
    if path.is_symlink() and not path.exists():
        raise WorkspaceError("is a link that leads nowhere.", hint="Mend or remove it.", file=path)
    document = read_document(path)
    rubric = parsed_rubric(document)
    if "task" not in document.raw:
        rubric = replace(rubric, task=task)
    if rubric.task != task:
        hint = f"Name the file {rubric.task}.toml, or mend the key."
        raise document.fault(f"says task '{rubric.task}', and its name says '{task}'", "task", hint=hint)
    return rubric


def _dimension(table: Table) -> Dimension:
    weight = table.number("weight", 1.0)
    if not 0 < weight <= _HEAVIEST:
        told = "be above 0" if weight <= 0 else f"not be above {_HEAVIEST:,}"
        raise table.fault(f"'weight' must {told}", "weight")
    name = table.string("id")
    return Dimension(
        id=name,
        title=table.string("title", name.replace("_", " ").capitalize()),
        key=table.string("key", ""),
        weight=weight,
        description=table.string("description", ""),
        levels=_levels(table.table("levels")),
        checks=table.strings("checks"),
    )


def _grade(table: Table) -> Grade:
    least = table.points("min")
    if least is None:
        raise table.fault("'min' is missing")
    return Grade(table.string("letter"), least)


def _levels(table: Table) -> dict[int, str]:
    levels: dict[int, str] = {}
    for key in table.raw:
        if not (key.isascii() and key.isdigit() and len(key) <= 3 and int(key) <= 100):
            raise table.fault(f"a level is a score between 0 and 100, not '{key}'", key)
        levels[int(key)] = table.string(key)
    return dict(sorted(levels.items()))


def _cap(table: Table, dimensions: Iterable[str]) -> Cap:
    when = " ".join(table.string("if").split())
    for clause in re.split(r" (?:or|and) ", when):
        if not CLAUSE.fullmatch(clause):
            raise table.fault(
                f"cannot read '{clause}'",
                "if",
                hint='Write "check fails", "check warns" or "check passes", joined by or/and.',
            )
    dimension = table.string("dimension")
    if dimension not in dimensions:
        raise table.fault(f"there is no dimension '{dimension}' to cap", "dimension")
    limit = table.points("max")
    if limit is None:
        raise table.fault("'max' is missing")
    return Cap(when, dimension, limit, table.string("reason", ""))


@lru_cache(maxsize=1)
def default_tasks() -> tuple[str, ...]:
    """Tasks whose rubric is shipped with judge-tui, sorted."""
    folder = _shipped()
    return tuple(sorted(path.stem for path in folder.glob("*.toml"))) if folder else ()


def default_rubric(task: str) -> Rubric:
    """The rubric that is shipped for a task.

    Raises:
        UsageError: None is shipped for it.
    """
    return load_rubric(default_rubric_path(task))


def default_rubric_path(task: str) -> Path:
    """The file of the rubric that is shipped for a task.

    Raises:
        UsageError: None is shipped for it.
    """
    folder = _shipped()
    if folder is None or task not in default_tasks():
        raise UsageError(
            f"there is no rubric for the task '{task}'.", hint=f"Write rubrics/{task}.toml in the workspace."
        )
    return folder / f"{task}.toml"


def _shipped() -> Path | None:
    from importlib.util import find_spec

    spec = find_spec("judge_tui.rubrics")
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return next((place for place in places if any(place.glob("*.toml"))), None)
