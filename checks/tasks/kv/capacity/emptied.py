"""A cache that is emptied by a call of its own: what comes next is as in a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.fed import Fed
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sequence_roles import FORGETS
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

_BEFORE, _AFTER = 5, 3


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Feed it, empty it, and feed it anew; one that goes on as if nothing was called warns.

    Nothing is judged of a call that is for something else: it changes a cache which was fed nothing, or it
    changes nothing and may only ask (``empty()``), or write down (``flush()``).

    Args:
        subject: The submission's cache.
        found: Gathers the evidence.
        said: What is wrong is put in front.
    """
    for name in _names(subject):
        quantity = f"{_BEFORE} tokens, {name}(), then {_AFTER} others: largest relative error"
        limit, where = float32_limit(subject), subject.where("append", "step", "append_many")
        try:
            if not _off(subject, name, 0) <= limit:
                found.note(
                    quantity, "not judged", note="it changes what was fed nothing: it is for something else"
                )
                continue
            error = _off(subject, name, _BEFORE)
            goes_on = not error <= limit and _off(subject, name, _BEFORE, keeps=True) <= limit
        except (Raised, BadResult, Skipped) as fault:
            found.note(quantity, "not judged", note=fault.message)
            continue
        if goes_on and not name.startswith(("reset", "clear")):
            found.note(quantity, "not judged", note="it changes nothing: it is for something else")
            continue
        otherwise = Verdict.WARN if goes_on else Verdict.FAIL
        if not found.limit(quantity, error, limit, otherwise=otherwise, **where):
            how = "nothing is forgotten" if goes_on else f"what comes next is off by {error:.2g}"
            said.insert(0, f"after {name}() {how}")


def _names(subject: Subject) -> Iterator[str]:
    """Methods of the cache that need no argument and whose names say that they empty it."""
    states = _small(subject).states
    if not states or not isinstance(states[0], Handle):
        return
    kind = subject.bench.worker.describe(states[0]).get("type")
    for inventory in subject.bench.bindings.loaded.values():
        for cls in inventory.get("classes", ()):
            for method in cls["methods"] if cls["name"] == kind else ():
                needed = [each for each in (method["params"] or ())[1:] if "default" not in each]
                if FORGETS.fullmatch(method["name"]) and not needed:
                    yield str(method["name"])


def _small(subject: Subject) -> Cached:
    sizes = subject.sizes(2, 16, layers=1)
    cached = subject.cached(sizes)
    return subject.cached(replace(sizes, batch=1)) if cached.alone else cached


def _off(subject: Subject, name: str, before: int, *, keeps: bool = False) -> float:
    """How far off what comes after the call is; ``keeps``: as if it had not been called.

    Raises:
        Fault: What the submission did.
    """
    rng = subject.bench.rng("emptied", before)
    fed = Fed.of(_small(subject), rng, before)
    state = fed.cached.states[0]
    assert isinstance(state, Handle)
    subject.bench.worker.call(state, method=name)
    if not keeps:
        fed.forget()
    return float(np.max([fed.feed(rng, _AFTER), fed.held()]))
