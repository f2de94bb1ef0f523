"""Plain caches: rows in another order, rows and caches with the past of another, tokens taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.fed import Fed
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject

__all__ = ["judge"]

_ROWS = 4


@dataclass(frozen=True, slots=True)
class Case:
    """Something that is done to a cache.

    Attributes:
        role: What does it.
        words: For the evidence.
        run: Does it to a cache with so many tokens, and gives the worst error of what was asked and read.
        tokens: Fed before it.
    """

    role: str
    words: str
    run: Callable[[Fed, np.random.Generator], float]
    tokens: int


def judge(subject: Subject, found: Findings, wrong: list[str], said: list[str]) -> None:
    """Do what the cache offers, write on all sides, and hold every row against what it was fed."""
    for case in _CASES:
        if case.role in subject.bound and _fits(subject, case):
            words = _judged(subject, found, case)
            if words:
                wrong.append(words)
            elif words is not None:
                said.append(f"{case.words}: right")


def _fits(subject: Subject, case: Case) -> bool:
    """Whether a fork is one of rows, or of a whole cache."""
    return case.role != "fork" or subject.bound["fork"].takes("sequence") == case.words.startswith("a row")


def _judged(subject: Subject, found: Findings, case: Case) -> str | None:
    """One case; what is wrong, empty when nothing is, ``None`` where it could not be judged."""
    rng = subject.bench.rng("sharing", case.words)
    sizes = subject.sizes(_ROWS, 24, layers=1)
    quantity = f"{case.words}: largest relative error of attention and of what is read"
    where = subject.where(case.role)
    try:
        cached = subject.cached(sizes)
        if cached.alone and case.role == "reorder":
            raise Skipped("each sequence has a cache of its own")
        if cached.alone:
            cached = subject.cached(replace(sizes, batch=1))
        fed = Fed.of(cached, rng, case.tokens)
        error = float(np.max([case.run(fed, rng), fed.held()]))
    except Skipped as fault:
        found.note(quantity, fault.message)
        return None
    except (Raised, BadResult) as fault:
        place = {"file": fault.file, "line": fault.line} if fault.file else where
        found.claim(quantity, False, measured=fault.brief(160), limit="goes", output=fault.output, **place)
        return f"{case.words}: {fault.brief(90)}"
    right = found.limit(quantity, error, float32_limit(subject), **where)
    return "" if right else f"{case.words}: a row is off by {error:.2g} from what it was fed"


def _beams(fed: Fed, rng: np.random.Generator) -> float:
    errors = []
    for order in ([2, 0, 0, 3], [1, 1, 2, 0], [3, 2, 1, 0]):
        fed.reorder(np.array(order))
        errors += [fed.held(), fed.feed(rng, 2), fed.held()]
    return float(np.max(errors))


def _row(fed: Fed, rng: np.random.Generator) -> float:
    fed.fork_row(0, 2)
    return float(np.max([fed.held(), fed.feed(rng, 2), fed.held()]))


def _two_caches(fed: Fed, rng: np.random.Generator) -> float:
    other = fed.clone()
    errors = [
        other.held(),
        other.feed(rng, 2),
        fed.held(),
        fed.feed(rng, 3),
        other.held(),
        other.feed(rng, 1),
    ]
    return float(np.max([*errors, other.held()]))


def _back(fed: Fed, rng: np.random.Generator) -> float:
    errors = []
    for count in (1, 3):
        fed.roll_back(count)
        errors += [fed.held(), fed.feed(rng, 2)]
    return float(np.max(errors))


_CASES = (
    Case("reorder", "rows in another order, some of them twice, then written to", _beams, 3),
    Case("fork", "a row with the past of another, then written to", _row, 3),
    Case("fork", "a second cache with the same past, then written to", _two_caches, 3),
    Case("roll_back", "tokens taken back, then others", _back, 7),
)
