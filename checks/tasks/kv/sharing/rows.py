"""Plain caches: rows in another order, rows and caches with the past of another, tokens taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.fed import Fed
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.sharing import wrapped
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sharing_roles import LEAVE

__all__ = ["judge"]

_ROWS = 4
#: How far off codes leave an answer at most that is known for what it is.
_CODED = 0.1
#: Further tokens before rows of codes are changed.
_OLDER = 40
_CUTS = re.compile(r"(?i)truncate|crop|trim|shrink|cut")


@dataclass(frozen=True, slots=True)
class Case:
    """Something that is done to a cache.

    Attributes:
        role: What does it.
        words: For the evidence.
        run: Does it to a cache with so many tokens, and gives the worst error of what was asked and read.
        tokens: Fed before it, to all rows or to each.
        room: Tokens that the cache is made for.
    """

    role: str
    words: str
    run: Callable[[Fed, np.random.Generator], float]
    tokens: tuple[int, ...]
    room: int = 24


def judge(subject: Subject, found: Findings, wrong: list[str], said: list[str]) -> None:
    """Do what the cache offers, write on all sides, and hold every row against what it was fed."""
    for case in (*_CASES, *_far(subject)):
        if case.role in subject.bound and _fits(subject, case):
            asked = _told_of_each(subject) if case.run is _each_back else subject
            words = _judged(asked, found, case)
            if words:
                wrong.append(words)
            elif words is not None and case in _CASES:
                said.append(f"{case.words}: right")
    if "roll_back" in subject.bound and (words := wrapped.judge(subject, found)):
        wrong.append(words)


def _fits(subject: Subject, case: Case) -> bool:
    """Whether a fork is one of rows, or of a whole cache; whether rows may go; whether what stays is told."""
    name = subject.bound[case.role].name.rpartition(".")[2]
    if case.run in (_cut, _cut_some):
        # who tells of a row by itself knows what it holds, and what sets a length may be meant to
        cuts, told = subject.bound["roll_back"], bool(_CUTS.search(name))
        one = cuts.takes("length") and not cuts.takes("sequence")
        return told and (one or (case.run is _cut and (cuts.takes("length") or cuts.takes("totals"))))
    goes = case.run is not _leave or bool(re.search(LEAVE, name))
    return goes and (case.role != "fork" or subject.bound["fork"].takes("sequence") == (case.run is _row))


def _told_of_each(subject: Subject) -> Subject:
    """The same cache, whose tokens are taken back row by row where one number for all may be one for each."""
    told = subject.bound["roll_back"].handed(count="counts", length="totals")
    asked = replace(subject, bound={**subject.bound, "roll_back": told})
    with Guess(subject.bench.worker):
        rng = subject.bench.rng("each")
        fed = Fed.of(asked.cached(asked.sizes(_ROWS, 24, layers=1)), rng, *[5] * _ROWS)
        fed.roll_back(2)
        return asked if max(fed.held(), fed.feed(rng, 1)) <= float32_limit(subject) else subject
    return subject


def _judged(subject: Subject, found: Findings, case: Case) -> str | None:
    """One case; what is wrong, empty when nothing is, ``None`` where it could not be judged."""
    rng = subject.bench.rng("sharing", case.words)
    # the newest of what is kept as codes may be kept as they are
    older = _OLDER if subject.codes else 0
    sizes = subject.sizes(_ROWS, case.room + older, layers=1)
    quantity = f"{case.words}: largest relative error of attention and of what is read"
    where, fed = subject.where(case.role), None
    try:
        cached = subject.cached(sizes)
        if cached.alone and (case.role == "reorder" or len(case.tokens) > 1):
            raise Skipped("each sequence has a cache of its own")
        if cached.alone:
            cached = subject.cached(replace(sizes, batch=1))
        fed = Fed.of(cached, rng, *(count + older for count in case.tokens))
        # of codes only what is near is known for what it is
        fed.wrong = float32_limit(subject)
        fed.limit = _CODED if subject.codes else fed.wrong
        error = float(np.max([case.run(fed, rng), fed.held()]))
    except Skipped as fault:
        found.note(quantity, fault.message)
        return None
    except (Raised, BadResult) as fault:
        place = {"file": fault.file, "line": fault.line} if fault.file else where
        found.claim(quantity, False, measured=fault.brief(160), limit="goes", output=fault.output, **place)
        # what a row of another length is, says more than the shape of an answer
        told = fed.cause[0] if fed is not None and fed.cause and isinstance(fault, BadResult) else ""
        return f"{case.words}: {told or fault.brief(90)}"
    right = found.limit(quantity, error, float32_limit(subject), **where)
    why = f": {fed.cause[0]}" if fed and fed.cause else ""
    return "" if right else f"{case.words}: a row is off by {error:.2g} from what it was fed{why}"


def _beams(fed: Fed, rng: np.random.Generator) -> float:
    errors = []
    for order in ([2, 0, 0, 3], [1, 1, 2, 0], [3, 2, 1, 0]):
        fed.reorder(np.array(order))
        errors += [fed.held(), fed.feed(rng, 2), fed.held()]
    return float(np.max(errors))


def _leave(fed: Fed, rng: np.random.Generator) -> float:
    errors = []
    for order in ([0, 1, 3], [1, 2], [1]):
        fed.reorder(np.array(order))
        errors += [fed.held(), fed.feed(rng, 2), fed.held()]
    return float(np.max(errors))


def _row(fed: Fed, rng: np.random.Generator) -> float:
    fed.fork_row(0, 1)
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


def _each_back(fed: Fed, rng: np.random.Generator) -> float:
    errors = []
    for counts in ((1, 3, 2, 0), (2, 0, 1, 3)):
        fed.roll_back(*counts)
        errors += [fed.held(), fed.feed(rng, 2)]
    return float(np.max(errors))


def _far_back(fed: Fed, rng: np.random.Generator, many: int, single: int, back: int) -> float:
    """Several at once, some one by one, and so many taken back that of those at once some go too."""
    errors = [fed.at_once(rng, many), fed.feed(rng, single)]
    for count in (back, back + 1):
        fed.roll_back(count)
        # more than went, so that whatever stayed of them shows
        errors += [fed.held(), fed.feed(rng, count + 2), fed.held()]
    return float(np.max(errors))


def _far(subject: Subject) -> list[Case]:
    """Tokens of several calls taken back at once, about integers of the source too."""
    integers = sorted({one.value for one in subject.bench.integers if 3 <= one.value <= _MOST_BACK})[-_FAR:]
    ways = [(10, 3, 5), *((2 * c + 3, max(1, c // 2), c) for c in integers)]
    return [
        Case(
            "roll_back",
            f"{many} tokens at once and {single} one by one, of which {back} are taken back, then others",
            partial(_far_back, many=many, single=single, back=back),
            (1,),
            many + single + 8,
        )
        for many, single, back in ways
    ]


def _cut(fed: Fed, rng: np.random.Generator) -> float:
    fed.cut(_KEPT)
    return float(np.max([fed.held(), fed.feed(rng, 2), fed.held()]))


def _cut_some(fed: Fed, rng: np.random.Generator) -> float:
    try:
        fed.cut(_KEPT)
    except Raised as fault:
        raise Skipped(f"refused: {fault.message}") from fault
    return float(np.max([fed.held(), fed.feed(rng, 2), fed.held()]))


#: The largest integer of a source about which tokens are taken back, and of how many.
_MOST_BACK, _FAR = 64, 2
_EQUAL, _UNEQUAL = (3,), (3, 1, 5, 2)
#: Tokens that stay of each row, where the call is told how many.
_KEPT = 4
_CASES = (
    Case("reorder", "rows in another order, some of them twice, then written to", _beams, _EQUAL),
    Case("reorder", "rows of several lengths in another order, then written to", _beams, _UNEQUAL),
    Case("reorder", "rows that go one after the other, then written to", _leave, _EQUAL),
    Case("reorder", "rows of several lengths of which the longest goes, then written to", _leave, _UNEQUAL),
    Case("fork", "a row with the past of another, then written to", _row, _EQUAL),
    Case("fork", "a row with the past of a longer one, then written to", _row, _UNEQUAL),
    Case("fork", "a second cache with the same past, then written to", _two_caches, _EQUAL),
    Case("roll_back", "tokens taken back, then others", _back, (7,)),
    Case("roll_back", "tokens taken back from rows of several lengths, then others", _back, (6, 4, 8, 5)),
    Case(
        "roll_back", "other numbers of tokens taken back from each row, then others", _each_back, (7, 7, 7, 7)
    ),
    Case("roll_back", "rows of several lengths cut to one, then others", _cut, (6, 8, 5, 7)),
    Case("roll_back", "rows cut to a length that some do not have, then others", _cut_some, (6, 2, 8, 3)),
)
