"""What of a decoder's prompt in several calls is wrong: what is stored, or which tokens a row sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.incremental_equals_full.stored_places import stored
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.seen_tokens import row_causes

__all__ = ["told_calls", "whole_rows"]

Array = npt.NDArray[Any]
#: Hands tokens to a decoder, and gives the rows that it answers, (S, W); NaN where it gives none.
Feed = Callable[[Decoder, Array], Array]


def told_calls(
    subject: Subject, feed: Feed, given: Array, calls: Sequence[int],
    bound: Mapping[str, Binding] | None = None, **sizes: Any,
) -> str:  # fmt: skip
    """What is wrong, as a clause; empty where nothing is seen or known.

    Args:
        subject: What is judged.
        feed: Hands all tokens over, in those calls.
        given: (1, S) ids or (1, S, E).
        calls: Tokens of each call.
        bound: Other callables that play the decoder's roles.
        sizes: Of it, besides.
    """

    def fed(decoder: Decoder) -> None:
        feed(decoder, given)

    if words := stored(subject, fed, given, bound, **sizes):
        return words
    made = (subject.bound[role] for role in ("decoder", "state") if role in subject.bound)
    make = subject.maker(layers=1) if any(each.takes("layers") for each in made) else subject.maker()
    tokens = int(given.shape[1])

    def run(token: int, how: Sequence[int]) -> Array:
        other = given.copy()
        if token >= 0:
            one = other[:, token]
            other[:, token] = (one + 1) % make(1).sizes.vocab if other.dtype.kind == "i" else one + 1.0
        if len(how) == 1:
            return whole_rows(make(1).answers(other)[0], tokens)
        return feed(make(1, bound, **sizes), other)

    try:
        return row_causes(run, calls, (tokens,), 2 * tokens, precision("float32").limit(0.0))
    except Fault:
        return ""


def whole_rows(rows: Array, tokens: int) -> Array:
    """Rows at the end of so many tokens, NaN before them."""
    return np.pad(rows, [(tokens - len(rows), 0), (0, 0)], constant_values=np.nan)
