"""What happens past the end: an error or growth, and nothing lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Fault, Raised, Skipped
from judge_tui.checks.tasks.kv.capacity import (
    decoder_long_prompts,
    decoder_window,
    emptied,
    kept_first,
    long_prompts,
    others,
    refused,
    reuse,
    scattered,
    several,
    uneven,
    wrapping,
)
from judge_tui.checks.tasks.kv.capacity import decoder_past_end as room
from judge_tui.checks.tasks.kv.capacity.window import says_so, slides
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.storage import entries
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.misplaced import misplaced
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["capacity"]

Array = npt.NDArray[Any]
_CAPACITY = 8
#: Tokens that a cache is given which cannot be told how many it holds: past what most begin with.
_UNTOLD = 129


@check(
    "capacity",
    "past the end",
    version=17,
    establishes="Writing past the end gives an error or makes room, and what was stored stays; what a "
    "sequence held that left is not seen by the next.",
)
def capacity(bench: Bench, found: Findings) -> str:
    """Fill a cache, then feed one token more; and several where one has room; the same with a decoder."""
    coded = Subject.of_codes(bench)
    said: list[str] = []
    try:
        subject = Subject.of(bench)
    except Skipped:
        if not coded:
            raise
    else:
        if subject.mode:
            said += _of_cache(subject, found)
        room.judge(subject, found, said)
        if subject.decodes:
            decoder_window.judge(subject, found, said)
            decoder_long_prompts.judge(subject, found, said)
    for each in coded:
        said += [f"{each.name}: {words}" for words in _of_cache(each, found.about(each.name))]
    if not said:
        raise Skipped(
            "the cache is a part of the decoder and cannot be filled by itself, and nothing shows what "
            "happens past the decoder's own length"
        )
    return "; ".join(said)


def _of_cache(subject: Subject, found: Findings) -> list[str]:
    create = subject.bound.get("create")
    told = create is None or create.takes("max_len")
    words = "one token past the end" if told else f"one token behind {_CAPACITY}"
    said = [_past_the_end(subject, found, _CAPACITY, 1, words)]
    if not told:
        try:
            said = [_past_the_end(subject, found, _UNTOLD, 1, f"one token behind {_UNTOLD}")]
        except Raised as fault:
            found.note(f"{_UNTOLD} tokens, one by one", fault.message)
    continues = subject.cached(Sizes()).can_feed_many and _continues(subject)
    if continues:
        try:
            said.append(_past_the_end(subject, found, _CAPACITY - 1, 3, "three tokens where one has room"))
        except Skipped as fault:
            found.note("three tokens where one has room", fault.message)
    if told:
        uneven.judge(subject, found, said, _CAPACITY)
        wrapping.judge(subject, found, said, _CAPACITY, continues=continues)
        kept_first.judge(subject, found, said, _CAPACITY)
        long_prompts.judge(subject, found, said)
        refused.judge(subject, found, said)
    others.judge(subject, found, said, _CAPACITY, 3 * _CAPACITY if told else _UNTOLD)
    reuse.judge(subject, found, said)
    scattered.judge(subject, found, said)
    emptied.judge(subject, found, said)
    several.judge(subject, found, said)
    return said


def _continues(subject: Subject) -> bool:
    """Whether several tokens at once go behind what is stored; a call for prompts alone may start over."""
    sizes = subject.sizes(2, _CAPACITY, layers=1)
    cached = subject.cached(sizes)
    q, k, v = drawn(subject.bench.rng("continues"), sizes, 5)
    try:
        cached.feed(*(x[:, :, :2] for x in (q, k, v)), whole=False)
        return _grown(subject, cached, cached.feed(*(x[:, :, 2:] for x in (q, k, v))), q[:, :, 2:], k, v)
    except (Raised, BadResult, Skipped):
        return False


def _past_the_end(subject: Subject, found: Findings, before: int, more: int, words: str) -> str:
    sizes = subject.sizes(2, max(before, _CAPACITY), narrow=before > _CAPACITY, layers=1)
    cached = subject.cached(sizes)
    q, k, v = drawn(subject.bench.rng(words), sizes, before + more)
    out = cached.feed(*(x[:, :, :before] for x in (q, k, v)), whole=False)
    if not _grown(subject, cached, out, *cut((q, k, v), 0, before)):
        raise Skipped(
            "its answers are wrong before the end is reached, so they cannot show what happens past it"
        )
    held = _contents(cached)
    new = [x[:, :, before:] for x in (q, k, v)]
    where = subject.where("step", "append", "append_many")
    counts = cached.counts.copy()
    try:
        out = cached.feed(*new)
    except Raised as fault:
        cached.counts = counts
        return _refused(subject, found, cached, q, k, v, before, words, fault, held, where)
    except BadResult as fault:
        if slides(cached, None, new[0], k, v, _CAPACITY, float32_limit(subject)):
            return _forgets(subject, found, words, where)
        # It took the token without a word, and then had no room for it.
        found.claim(
            f"{words}: grows, or refuses", False, measured=f"goes on, and {fault.message}",
            limit="an error, or room made", **where,
        )  # fmt: skip
        return f"{words}: no error, and a token is lost ({fault.message})"
    right = _grown(subject, cached, out, new[0], k, v)
    if not right and slides(cached, out, new[0], k, v, _CAPACITY, float32_limit(subject)):
        return _forgets(subject, found, words, where)
    astray = "" if right else _astray(subject, cached, k, v)
    found.claim(
        f"{words}: grows, or refuses", right, measured="grows" if right else "goes on and answers wrongly",
        limit="an error, or room made", note=astray, **where,
    )  # fmt: skip
    if right:
        return f"{words}: room is made"
    return f"{words}: no error, and what was stored is lost or wrong{f' ({astray})' if astray else ''}"


def _astray(subject: Subject, cached: Cached, k: Array, v: Array) -> str:
    """Where what was stored has gone, as far as it can be read."""
    try:
        pairs = [cached.stored(b) for b in range(cached.sizes.batch)]
    except (Fault, Skipped):
        return ""
    for i, (name, truth) in enumerate((("keys", k), ("values", v))):
        if any(pair[i].shape != truth[:1].shape for pair in pairs):
            continue
        got = np.concatenate([pair[i] for pair in pairs])
        if told := misplaced(got, truth, float32_limit(subject)):
            return f"{name}: {told}"
    return ""


def _forgets(subject: Subject, found: Findings, words: str, where: dict[str, Any]) -> str:
    """The newest tokens take the place of the oldest: what a window is for, if its name says so."""
    meant = says_so(subject)
    why = f"{meant}: it forgets by design, and steps past it are no longer full attention" if meant else ""
    found.claim(
        f"{words}: grows, or refuses", False, measured=f"keeps the newest {_CAPACITY}",
        limit="an error, or room made", otherwise=Verdict.WARN if meant else Verdict.FAIL,
        note=why, **where,
    )  # fmt: skip
    return f"{words}: the oldest token is forgotten{', as in a window' if meant else ' without a word'}"


def _grown(subject: Subject, cached: Cached, out: Array, q: Array, k: Array, v: Array) -> bool:
    """Whether everything that was fed is there, judged by the last row."""
    limit = float32_limit(subject)
    try:
        if cached.mode == "read":
            pairs = [(cached.stored(b), b) for b in range(cached.sizes.batch)]
            errors = [
                relative_error(got[i], x[b : b + 1].astype(float))
                for got, b in pairs
                for i, x in ((0, k), (1, v))
            ]
            return all(error <= limit for error in errors)
        return relative_error(out[:, :, -1:], attention(q[:, :, -1:], k, v)) <= limit
    except (BadResult, Skipped):
        return False


def _refused(
    subject: Subject, found: Findings, cached: Cached, q: Array, k: Array, v: Array, before: int, words: str,
    fault: Fault, held: list[bytes], where: dict[str, Any],
) -> str:  # fmt: skip
    """After an error: the tokens before must still be there."""
    kept, how = _kept(subject, cached, q, k, v, before, held)
    found.claim(
        f"{words}: refuses, and keeps what it had", kept,
        measured=f"{fault.brief(160)}; {how}", limit="an error, earlier data intact",
        file=fault.file or where.get("file"), line=fault.line or where.get("line"),
    )  # fmt: skip
    return f"{words}: {fault.brief(90)}, {how}"


def _kept(
    subject: Subject, cached: Cached, q: Array, k: Array, v: Array, before: int, held: list[bytes]
) -> tuple[bool, str]:
    limit = float32_limit(subject)
    try:
        if "read" in cached.bound:
            got = [cached.stored(b) for b in range(cached.sizes.batch)]
            errors = [
                relative_error(got[b][i], x[b : b + 1, :, :before].astype(float))
                for b in range(cached.sizes.batch) for i, x in ((0, k), (1, v))
            ]  # fmt: skip
            kept = all(error <= limit for error in errors)
        elif cached.attends_again:
            now = slice(before - 1, before)
            out = cached.attend(q[:, :, now], None, np.ones(cached.sizes.batch, np.int64))
            kept = relative_error(out, attention(q[:, :, now], k[:, :, :before], v[:, :, :before])) <= limit
        else:
            kept = _contents(cached) == held
    except (Raised, BadResult) as fault:
        return False, f"and the cache is of no use any more ({fault.brief(60)})"
    return kept, "earlier tokens intact" if kept else "earlier tokens changed"


def _contents(cached: Cached) -> list[bytes]:
    """Every array of the cache by bytes."""
    return [
        cached.worker.fetch(handle, entry.shape).tobytes()
        for entry in entries(cached)
        for handle in entry.handles
        if entry.dtype.startswith("float") and len(entry.handles) == 1
    ]
