"""Whether what stands past a sequence's length can reach its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.storage import Entry, entries
from judge_tui.checks.tasks.kv.isolation import decoder_slots as decoders
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import same_bits
from judge_tui.checks.verdict import Verdict

__all__ = ["isolation"]

Array = npt.NDArray[Any]
_LENGTHS = (5, 2, 7)
_STEPS = 2
#: Larger than any finite mask, and larger than any data; of both signs, as a query may make a key of one sign
#: weigh nothing.
_HUGE, _LARGE = 1e30, 1e4
_SIGNS = (1.0, -1.0)


@check(
    "isolation",
    "garbage past the end",
    establishes="Huge finite values past a sequence's length, and in padding, change no bit of its answers.",
    version=4,
)
def isolation(bench: Bench, found: Findings) -> str:
    """The same run over clean and over dirty slots; then with dirty padding."""
    subject = Subject.of(bench)
    said = Sentences(found)
    if subject.mode:
        lengths = _LENGTHS if _uneven(subject) else ()
        for words in (_slots(subject, found, lengths), _padding(subject, found)):
            if words:
                said.append(words)
    if subject.decodes and (words := decoders.judge(subject, found)):
        said.append(words)
    if not said:
        raise Skipped("there is nothing past a length: the cache holds what came in, and takes no padding")
    return said.told()


def _uneven(subject: Subject) -> bool:
    """Whether sequences of different lengths step together."""
    if not subject.cached(Sizes()).ragged_by():
        return False
    try:
        _run(subject, None, _LENGTHS)
    except (Raised, Skipped):
        return False
    return True


def _run(
    subject: Subject, dirt: float | None, lengths: tuple[int, ...] = _LENGTHS, padding: float | None = None
) -> list[Array] | None:
    """Answers of the steps after a prompt, of so many tokens each, else of as many for all.

    Returns:
        ``None`` when there is nothing to make dirty.
    """
    sizes = subject.sizes(len(_LENGTHS), 16)
    cached = subject.cached(sizes)
    if dirt is not None:
        spare = [entry for entry in entries(cached) if _holds_tokens(entry, cached)]
        if not spare:
            return None
        for entry in spare:
            for handle in entry.handles:
                cached.worker.fill(handle, float(np.nan) if np.isnan(dirt) else dirt)
    counts = np.array(lengths) if lengths else None
    longest = max(_LENGTHS)
    q, k, v = drawn(subject.bench.rng("stream"), sizes, longest + _STEPS)
    if padding is not None and counts is not None:
        q, k, v = (x.copy() for x in (q, k, v))
        for b, n in enumerate(_LENGTHS):
            for x in (q, k, v):
                x[b, :, n:longest] = padding
    cached.feed(*cut((q, k, v), 0, longest), counts)
    outs = []
    for t in range(longest, longest + _STEPS):
        out = cached.feed(*(x[:, :, t : t + 1] for x in (q, k, v)))
        outs.append(out if cached.mode != "read" else _stored(cached))
    return outs


def _stored(cached: Cached) -> Array:
    return np.concatenate([part.ravel() for b in range(cached.sizes.batch) for part in cached.stored(b)])


def _holds_tokens(entry: Entry, cached: Cached) -> bool:
    """Whether an empty cache's array is where keys or values will go."""
    sizes = cached.sizes
    share = 1 if not cached.alone else sizes.batch
    needed = sizes.batch * sizes.heads * sizes.max_len * sizes.head_dim
    return entry.dtype.startswith("float") and share * int(np.prod(entry.shape)) >= needed // sizes.batch


def _slots(subject: Subject, found: Findings, lengths: tuple[int, ...]) -> str:
    clean = _run(subject, None, lengths)
    same = _unmoved(clean, lambda dirt: _run(subject, dirt, lengths), _HUGE)
    if same is None or clean is None:
        found.note("slots past a length", "none", note="the cache grows by what comes in")
        return ""
    where = subject.where("attend", "step", "attention", "read")
    large = same or bool(_unmoved(clean, lambda dirt: _run(subject, dirt, lengths), _LARGE))
    found.claim(
        f"every free slot holds ±{_HUGE:g}: answers of {_STEPS} steps", same,
        measured="same bits" if same else "differ", limit="same bits",
        otherwise=Verdict.WARN if large else Verdict.FAIL,
        note="" if same else _why(large), **where,
    )  # fmt: skip
    _strict(subject, found, clean, lengths)
    if same:
        return f"±{_HUGE:g} in every free slot changes no bit"
    return f"±{_HUGE:g} in free slots reaches the answers{' (1e4 does not)' if large else ''}"


def _why(large: bool) -> str:
    if large:
        return f"with {_LARGE:g} nothing changes: the mask is a finite number that is added"
    return f"with {_LARGE:g} as well: slots past a sequence's length take part"


def _strict(subject: Subject, found: Findings, clean: list[Array], lengths: tuple[int, ...]) -> None:
    """NaN in the slots, reported apart: masked weights times NaN are NaN in most sound code."""
    try:
        outs = _run(subject, float("nan"), lengths)
    except Fault as fault:
        found.note("strict variant: NaN in every free slot", fault.message)
        return
    same = outs is not None and _same(clean, outs)
    found.note(
        "strict variant: NaN in every free slot", "same bits" if same else "differ",
        note="" if same else "0 · NaN is NaN: masked slots are multiplied, not left out; no fault by itself",
    )  # fmt: skip


def _padding(subject: Subject, found: Findings) -> str:
    """Tokens past a sequence's count, in the prompt that is handed over."""
    cached = subject.cached(Sizes())
    packed = "P" in subject.main("append", "append_many", "step", "step_many").layout
    if packed or cached.ragged_by() not in ("lengths", "totals", "active"):
        return ""
    try:
        clean = _run(subject, None, padding=0.0)
        same = bool(_unmoved(clean, lambda dirt: _run(subject, None, padding=dirt), _HUGE))
    except Skipped as fault:
        found.note("padding of the prompts", fault.message)
        return ""
    large = same or bool(_unmoved(clean, lambda dirt: _run(subject, None, padding=dirt), _LARGE))
    found.claim(
        f"padding of the prompts is ±{_HUGE:g}: answers of {_STEPS} steps", same,
        measured="same bits" if same else "differ", limit="same bits",
        otherwise=Verdict.WARN if large else Verdict.FAIL,
        note="" if same else _why(large), **subject.where("step_many", "append_many", "step", "append"),
    )  # fmt: skip
    return (
        f"±{_HUGE:g} in padding changes none"
        if same
        else f"±{_HUGE:g} in padding reaches the answers{' (1e4 does not)' if large else ''}"
    )


def _unmoved(
    clean: list[Array] | None, run: Callable[[float], list[Array] | None], dirt: float
) -> bool | None:
    """Whether dirt of either sign leaves all bits of the answers; ``None`` where nothing can be fouled."""
    for sign in _SIGNS:
        dirty = run(sign * dirt)
        if dirty is None or clean is None:
            return None
        if not _same(clean, dirty):
            return False
    return True


def _same(one: list[Array], other: list[Array]) -> bool:
    return len(one) == len(other) and all(same_bits(a, b) for a, b in zip(one, other, strict=True))
