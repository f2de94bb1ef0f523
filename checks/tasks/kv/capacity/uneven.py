"""A sequence that is full beside one that has room: what comes next is refused, or finds room."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.fed import Fed
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

#: Tokens that the other sequence lacks.
_SHORT = 3


def judge(subject: Subject, found: Findings, said: list[str], room: int) -> None:
    """Feed one token more to both; what sequences of one length do past the end is right already.

    Args:
        subject: The submission's cache.
        found: Gathers the evidence.
        said: What is wrong is put in front.
        room: Tokens that the cache is made for.
    """
    sizes = subject.sizes(2, room, layers=1)
    if found.verdict is not Verdict.PASS or not subject.cached(sizes).ragged_by():
        return
    for full in (0, 1):
        lengths = [room - _SHORT, room - _SHORT]
        lengths[full] = room
        short, rng = [length - 1 for length in lengths], subject.bench.rng("uneven", full)
        words = f"{lengths[0]} and {lengths[1]} tokens of {room}, then one more of each"
        try:
            right, how = _past_one_end(subject, Fed.of(subject.cached(sizes), rng, *short), rng)
        except (Raised, BadResult, Skipped) as fault:
            found.note(words, "not judged", note=fault.message)
            return
        limit, where = "an error, or room made", subject.where("step", "append", "append_many")
        if not found.claim(f"{words}: grows, or refuses", right, measured=how, limit=limit, **where):
            said.insert(0, f"{words}: {how}")
            return


def _past_one_end(subject: Subject, fed: Fed, rng: np.random.Generator) -> tuple[bool, str]:
    """Whether a token past the end of one sequence is refused or kept, and how that showed.

    Args:
        subject: The submission's cache.
        fed: The same, one token before the end of one sequence.
        rng: Draws the tokens.

    Raises:
        Skipped: Its answers are wrong before the end.
        Fault: What the submission did before the end.
    """
    limit = float32_limit(subject)
    if not max(fed.feed(rng, 1), fed.held()) <= limit:
        raise Skipped("its answers are wrong before the end is reached")
    counts = fed.cached.counts.copy()
    try:
        error = float(np.max([fed.feed(rng, 1), fed.held()]))
    except Raised as fault:
        fed.cached.counts = counts
        kept = fed.held() <= limit
        return kept, f"{fault.brief(90)}, earlier tokens {'intact' if kept else 'changed'}"
    except BadResult as fault:
        return False, f"no error, and {fault.brief(90)}"
    right = error <= limit
    return right, "room is made" if right else f"no error, and what is stored is lost or wrong ({error:.2g})"
