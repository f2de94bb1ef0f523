"""Room that lies in many pieces between the tokens of others: a prompt that needs all of it goes in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.finding.readings import many_layouts
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

#: Sequences that fill it, their tokens, by turns, and how many of them have gone when a prompt comes.
_SEQUENCES, _EACH, _GONE = 24, 4, (1, 2, 6, 12)
#: What shows it.
_NEEDED = {"add", "append", "free", "read"}


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Let every second sequence go, and hand a new one as many tokens as that leaves room for, at once.

    What goes in as long as few have gone is moved together where it has to be, and goes in behind many, too.

    Args:
        subject: The submission's cache; its sequences share the room that it is told.
        found: Gathers the evidence.
        said: What is wrong is put in front.
    """
    create, right = subject.bound.get("create"), 0
    if create is None or not create.takes("all_tokens") or not set(subject.bound) >= _NEEDED:
        return
    apart = next((form for form in _forms(subject) if _goes(form)), None)
    if apart is None:
        return
    limit, where = float32_limit(subject), subject.where("append_many", "append")
    for gone in _GONE:
        tokens = gone * _EACH
        quantity = f"{tokens} tokens at once, where as many went in ones between others: largest error"
        try:
            error = _off(apart, gone)
        except (BadResult, Skipped) as fault:
            found.note(quantity, "not judged", note=fault.message)
            return
        except Raised as fault:
            place = {"file": fault.file, "line": fault.line} if fault.file else where
            found.claim(quantity, False, measured=fault.brief(160), limit="goes in", **place)
            said.insert(0, f"a prompt of {tokens} tokens, for which there is room in pieces between others: "
                        f"{fault.brief(90)}; one of {right} goes in so")  # fmt: skip
            return
        if not found.limit(quantity, error, limit, **where):
            said.insert(0, f"a prompt of {tokens} tokens, for which there is room in pieces between others: "
                        f"what is read is off by {error:.2g}")  # fmt: skip
            return
        right = tokens


def _forms(subject: Subject) -> Iterator[Subject]:
    """The cache as it may take several tokens in one call, and without what attends."""
    held = {name: binding for name, binding in subject.bound.items() if name != "attend"}
    if "append_many" in held:
        yield replace(subject, bound=held)
    append = held["append"]
    for layout in many_layouts(append, append.layout):
        many = replace(append, role="append_many", layout=layout)
        yield replace(subject, bound={**held, "append_many": many})


def _goes(subject: Subject) -> bool:
    """Whether the room that one sequence leaves is enough for a prompt of as many tokens."""
    try:
        return _off(subject, _GONE[0]) <= float32_limit(subject)
    except (Raised, BadResult, Skipped):
        return False


def _off(subject: Subject, gone: int) -> float:
    """The worst error of the sequences that stay and of the one that came."""
    sizes = subject.sizes(_SEQUENCES, _EACH, layers=1)
    cached = subject.cached(sizes)
    long = _SEQUENCES * _EACH
    stream = drawn(subject.bench.rng("scattered", gone), sizes, long)
    cached.feed(*(x[:, :, :_EACH] for x in stream), whole=False)
    for b in range(0, 2 * gone, 2):
        cached.free(b)
    cached.add(0)
    counts, tokens = np.zeros(_SEQUENCES, np.int64), gone * _EACH
    counts[0] = tokens
    q, k, v = (x[:, :, _EACH : _EACH + tokens] for x in stream)
    cached.feed(q, k, v, counts)
    errors = []
    for b in (0, *(n for n in range(_SEQUENCES) if n >= 2 * gone or n % 2)):
        part = slice(_EACH, _EACH + tokens) if b == 0 else slice(0, _EACH)
        pairs = zip(cached.stored(b), stream[1:], strict=True)
        errors += [relative_error(got, x[b : b + 1, :, part].astype(float)) for got, x in pairs]
    return float(np.max(errors))
