"""A prompt of several tokens: whether its rows are causal, and its last row right."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.tasks.kv.incremental_equals_full.several_at_once import judge_several, tells_how_many
from judge_tui.checks.tasks.kv.incremental_equals_full.turning import from_where
from judge_tui.checks.tasks.kv.incremental_equals_full.weighing import weighed
from judge_tui.checks.tasks.kv.limits import float32_limit, stores_half
from judge_tui.checks.tasks.kv.subject import Subject, claims_causal
from judge_tui.checks.tasks.kv.words.draws import LOW, cut, drawn, lowered
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows, plain
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge_prefill", "sees_the_future"]

Array = npt.NDArray[Any]
Asked = Callable[[tuple[Array, Array, Array]], Array]

#: What several tokens go onto, how many it holds, how many go in: few, then across tiles of 16, 32 and 64.
_PIECES = (
    ("an empty cache", 0, 6),
    ("a cache that holds 4", 4, 5),
    ("an empty cache, 37 of them", 0, 37),
    ("a cache that holds 13, 70 of them", 13, 70),
)
#: The share of the budget that must be left for looking closer.
_LEFT = 0.3
_LOW = (f"a cache that holds 3, all scores {LOW:.0e}, below finite numbers that stand for −inf", 3, 5)


def judge_prefill(subject: Subject, found: Findings, said: Sentences) -> None:
    """Feed several tokens at once: to an empty cache, then to one that holds some.

    The last row is a decode step and must be right. The rows before it must be causal where the code speaks
    of a causal mask; where it does not, rows that see the whole prompt warn: no decode step uses them.
    """
    if not subject.cached(Sizes(2, 3, 20, 8)).can_feed_many:
        judge_several(subject, found, said)
        return
    if subject.mode == "read":
        return
    # Looked at closer is the first that is wrong.
    closer = True
    for words, before, tokens in (*_PIECES, _LOW):
        low = words == _LOW[0]
        if low and (found.verdict is not Verdict.PASS or stores_half(subject)):
            return
        sizes = subject.sizes(2, before + tokens + 11)
        cached = subject.cached(sizes)
        stream = drawn(subject.bench.rng("prefill", before), sizes, before + tokens)
        q, k, v = lowered(stream) if low else stream
        try:
            cached.feed(*(x[:, :, :before] for x in (q, k, v)), whole=False)
            new = slice(before, before + tokens)
            out = cached.feed(q[:, :, new], k[:, :, new], v[:, :, new])
        except Skipped as fault:
            found.note(f"several tokens onto {words}", fault.message)
            continue
        again = partial(_again, subject, sizes, before) if closer else None
        closer &= _rows(subject, found, said, words, out, (q, k, v), before, again)


def _again(subject: Subject, sizes: Sizes, before: int, stream: tuple[Array, Array, Array]) -> Array:
    """What a new cache answers to all tokens of a stream at once that come behind so many one by one."""
    cached = subject.cached(sizes)
    cached.feed(*cut(stream, 0, before), whole=False)
    return cached.feed(*cut(stream, before, stream[0].shape[2]))


def _rows(
    subject: Subject, found: Findings, said: Sentences, words: str, out: Array,
    stream: tuple[Array, Array, Array], before: int, again: Asked | None,
) -> bool:  # fmt: skip
    """Whether nothing was wrong that had to be looked at closer."""
    whole_q, k, v = stream
    q = whole_q[:, :, before:]
    tokens, stored = q.shape[2], k.shape[2]
    visible = causal_rows(tokens, stored)
    truth = attention(q, k, v, visible=visible)
    limit = float32_limit(subject, relative_error(plain(q, k, v, visible=visible), truth))
    last = relative_error(out[:, :, -1:], truth[:, :, -1:])
    if not last <= limit and _starts_over(subject, out, q, k, v, limit):
        found.note(
            f"several tokens at once onto {words}", "starts over", note="a prompt empties the cache first"
        )
        return True
    quantity = f"several tokens at once onto {words}: {{}}, largest relative error per row, float32"
    where = subject.where("step_many", "attend", "attention")
    if not found.limit(quantity.format("last row"), last, limit, **where):
        why = _why(subject, again, stream, out, before, limit)
        said.append(f"the last row of several tokens fed at once onto {words} is off by {last:.2g}{why}")
    earlier = relative_error(out[:, :, :-1], truth[:, :, :-1])
    quantity = quantity.format("rows before the last")
    whole = relative_error(out[:, :, :-1], attention(q, k, v)[:, :, :-1])
    if earlier <= limit or not whole <= limit:
        if not found.limit(quantity, earlier, limit, **where) and last <= limit:
            why = _why(subject, again, stream, out, before, limit)
            said.append(f"rows of several tokens fed at once onto {words} are off by {earlier:.2g}{why}")
        return earlier <= limit and last <= limit
    sees_the_future(subject, found, said, quantity, earlier, limit)
    return last <= limit


def _why(
    subject: Subject, again: Asked | None, stream: tuple[Array, Array, Array], out: Array, before: int,
    limit: float,
) -> str:  # fmt: skip
    """From how many stored tokens on rows are wrong, and what of their weights, as the end of a sentence."""
    if again is None:
        return ""
    q, k, v = stream

    def wrong(stored: int) -> bool:
        part = cut(stream, 0, stored)
        visible = causal_rows(stored - before, stored)
        truth = attention(part[0][:, :, before:], *part[1:], visible=visible)
        return not relative_error(again(part), truth) <= limit

    told = []
    with suppress(Fault):
        if subject.bench.left > _LEFT * subject.bench.budget and k.shape[2] > before + 2:
            told = [from_where(wrong, before + 1, k.shape[2])[1]]
    given = q[:, :, before:], k, v
    told.append(weighed(subject, lambda values: again((q, k, values)), out, given, before + 2))
    clauses = "; ".join(filter(None, told))
    return f": {clauses}" if clauses else ""


def _starts_over(subject: Subject, out: Array, q: Array, k: Array, v: Array, limit: float) -> bool:
    """Whether a call for prompts alone answers as if nothing had been stored before."""
    many = subject.bound.get("step_many") or subject.bound.get("append_many")
    one = subject.bound.get("step") or subject.bound.get("append")
    if many is None or one is None or many.target == one.target:
        return False
    new = slice(k.shape[2] - q.shape[2], None)
    return relative_error(out[:, :, -1:], attention(q[:, :, -1:], k[:, :, new], v[:, :, new])) <= limit


def sees_the_future(
    subject: Subject, found: Findings, said: Sentences, quantity: str, error: float, limit: float, *names: str
) -> None:
    """Rows of a prompt that see later tokens: a broken mask fails, none at all warns."""
    binding = subject.main(*(names or ("step_many", "attend", "attention")))
    claimed = None if binding.takes("causal") else claims_causal(subject, binding)
    # Rows of a whole model only show that its mask lets something through.
    through = binding.role == "prefill"
    if claimed:
        seen = "rows depend on later tokens" if through else "every row sees the whole prompt"
        found.limit(
            quantity, error, limit, file=claimed[0], line=claimed[1],
            note=f"the code speaks of a causal mask, and {seen}",
        )  # fmt: skip
        how = "leaks" if through else "masks nothing"
        words = f"the causal mask {how}: rows of a prompt see later tokens"
    elif binding.role in ("attend", "attention") and not tells_how_many(binding):
        # Nothing here says that it is meant for more than one query, or that it would be causal.
        found.note(quantity, error, limit=limit, note="several queries at once each see the whole cache")
        return
    else:
        # Of a call for prompts alone the last row goes on; one for any tokens answers with all of its rows.
        answers = through and subject.bound["decode"].target == binding.target
        verdict = Verdict.FAIL if answers else Verdict.WARN
        found.limit(
            quantity, error, limit, otherwise=verdict, **subject.where(*(names or ("step_many",))),
            note="no causal mask: every row sees the whole prompt; decode steps do not use these rows",
        )  # fmt: skip
        words = "a prompt fed at once has no causal mask (its last row is right)"
    said.once(words)
