"""A decoder of a single head, and vectors whose scores are in the hundreds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.incremental_equals_full.reach import judge_reach
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error, same_bits

__all__ = ["judge_shapes"]

Array = npt.NDArray[Any]
_PROMPT, _STEPS = 4, 2
#: Widths of the single head, even for positions that are rotated in pairs.
_WIDTHS = (8, 10, 14)
#: Of vectors of standard normal numbers: scores grow with its square.
_LARGE = 30.0


def judge_shapes(subject: Subject, found: Findings, said: Sentences) -> None:
    """What a decoder does with every head is told apart where there is one; what overflows, by vectors."""
    _single_head(subject, found, said)
    _large_vectors(subject, found, said)


def _single_head(subject: Subject, found: Findings, said: Sentences) -> None:
    decoder = subject.bound.get("decoder")
    if decoder is None or not decoder.takes("heads"):
        return
    words, width = "decoder of a single head", subject.bench.sizes("single head").one_of(_WIDTHS)
    try:
        make = subject.maker(heads=1, kv_heads=1, embed=width)
        given = make(1).draw(subject.bench.rng("single head"), _PROMPT + _STEPS)
        other = given.copy()
        other[:, 0] = given[:, 1] if not np.array_equal(given[:, 0], given[:, 1]) else given[:, 2]
        steps, changed = (_stepped(make, tokens) for tokens in (given, other))
        whole = make(1).prefill(given)
    except Fault as fault:
        found.note(words, fault.placed, note="it may want more than one")
        return
    limit, where = precision("float32").limit(0.0), subject.where("decode")
    quantity = f"{words}: steps against a prefill of the whole, largest relative error, float32"
    error = relative_error(steps[-1], whole)
    if not found.limit(quantity, error, limit, **where):
        said.append(f"{words}: steps differ from a prefill of the whole by {error:.2g}")
    if np.array_equal(given, other):
        return
    if same_bits(steps[-1], changed[-1]):
        judge_reach(subject, found, said, make, words)
        return
    found.claim(f"{words}: a changed first token changes the last step", True,
                measured="changes", limit="changes", **where)  # fmt: skip


def _large_vectors(subject: Subject, found: Findings, said: Sentences) -> None:
    words = f"decoder: hidden vectors × {_LARGE:g}"
    try:
        make = subject.maker(layers=1)
        given = make(1).draw(subject.bench.rng("large vectors"), _PROMPT + _STEPS)
        if given.dtype.kind != "f" or not np.isfinite(_stepped(make, given)).all():
            return
        answers = _stepped(make, given * given.dtype.type(_LARGE))
    except Fault as fault:
        found.note(words, fault.placed)
        return
    right = bool(np.isfinite(answers).all())
    found.claim(f"{words}: answers are finite", right, measured="finite" if right else "NaN or infinite",
                limit="finite", **subject.where("decode"))  # fmt: skip
    if not right:
        said.append(f"{words}: answers are not finite, as where a softmax overflows")


def _stepped(make: Maker, given: Array) -> Array:
    """Answers after a prompt, and after each step behind it: (1 + steps, 1, W)."""
    decoder = make(1)
    rows = [decoder.prefill(given[:, :_PROMPT])]
    rows += [decoder.decode(given[:, t]) for t in range(_PROMPT, given.shape[1])]
    return np.stack(rows)
