"""Whether a cache takes the bytes that keys and values need, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.cache_size_minimality import decoder_footprint as footprint
from judge_tui.checks.tasks.kv.cache_size_minimality import decoder_unread, unread
from judge_tui.checks.tasks.kv.cache_size_minimality.seen_by_kernel import LEAST, judge_resident
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.storage import Entry, entries, total
from judge_tui.checks.tasks.kv.finding import quantized as compressed
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tasks.kv.words.sizes import Sizes, sized
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["Measured", "cache_size_minimality", "weighed"]

#: Wide heads, so that a position or a length per token weighs little beside the data.
_SIZES = Sizes(batch=2, max_len=32, layers=1)
_HEADS, _WIDTHS = (4, 5, 6), (28, 32, 36, 40)
_LIMIT, _WARN = 1.10, 1.25
#: Less than this share of the bytes, and the data must be elsewhere.
_VISIBLE = 0.1
#: Fewer increases in 32 tokens are room made ahead.
_RARE = 8
#: Tokens whose bytes are counted one by one, and of what takes too much by then.
_STEPS, _FURTHER = 32, 160


@dataclass(frozen=True, slots=True)
class Measured:
    """What a token takes.

    Attributes:
        per_token: Bytes per token and sequence.
        how: How it was measured.
        curve: Bytes over tokens, for caches that grow.
    """

    per_token: float
    how: str
    curve: Curve | None = None


@check(
    "cache_size_minimality",
    "bytes per token",
    establishes="A token takes 2 · layers · kv_heads · head_dim · itemsize bytes, no fewer and, by the "
    "kernel's count too, no more, and every entry is read.",
    version=8,
)
def cache_size_minimality(bench: Bench, found: Findings) -> str:
    """Bytes of the cache's arrays over two lengths, then each array overwritten; what a decoder keeps."""
    subject = Subject.of(bench)
    said = Sentences(found)
    parts = (_bytes, _unread, judge_resident, _compressed) if subject.mode else ()
    for part in (*parts, *((footprint.judge, decoder_unread.judge) if subject.decodes else ())):
        for sentence in part(subject, found):
            said.append(sentence)
    if not said:
        raise Skipped("the cache is a part of the decoder and cannot be fed by itself")
    return said.told()


def _bytes(subject: Subject, found: Findings) -> list[str]:
    sizes = _sizes(subject)
    measured, expected = weighed(subject, sizes), _expected(sizes)
    if measured is None:
        found.note(
            "bytes per token",
            "capacity unknown",
            note="allocated at creation; no array shows how many tokens fit",
        )
        return ["its capacity shows nowhere, so bytes per token are unknown"]
    ratio = measured.per_token / expected
    if ratio < _VISIBLE:
        raise Skipped(
            "keys and values are kept where the cache object does not lead, so their bytes cannot be counted"
        )
    told = f"2 · 1 · {sizes.heads} · {sizes.head_dim} · 4"
    quantity = f"bytes per token and sequence over {expected} B ({told}), float32"
    note = f"{measured.per_token:.6g} B; {measured.how}"
    create = subject.bound.get("create")
    where = subject.where("create", "append", "step")
    needed = f"{ratio:.3g} × the {expected} that float32 keys and values need"
    shown = f"{measured.per_token:.5g} bytes per token, {needed}"
    if ratio < LEAST:
        found.claim(
            quantity, False, measured=ratio, limit=LEAST, otherwise=Verdict.WARN, curve=measured.curve,
            note=f"{note}; less than keys and values take", **where,
        )  # fmt: skip
        return [f"{shown}: the rest is kept where the cache does not lead, or in less than was fed"]
    wide = _double_only(subject, ratio)
    if wide and not (create is not None and create.takes("dtype")):
        found.limit(
            quantity, ratio, _LIMIT, otherwise=Verdict.WARN, curve=measured.curve,
            note=f"{note}; float64 whatever comes in, and it can be told no dtype", **where,
        )  # fmt: skip
        return [f"{shown}: it stores float64 whatever comes in"]
    otherwise = Verdict.WARN if ratio <= _WARN else Verdict.FAIL
    found.limit(quantity, ratio, _LIMIT, otherwise=otherwise, note=note, curve=measured.curve, **where)
    return [f"{shown}, float64 though float32 was asked for" if wide else shown]


def _compressed(subject: Subject, found: Findings) -> list[str]:
    """The quantized cache, where there is one: it is to take less than float16, scales and all."""
    own = compressed.roles_of(subject.bound)
    if own is None:
        return []
    sizes = replace(_sizes(subject), head_dim=64)
    measured = weighed(Subject(subject.bench, own), sizes)
    if measured is None:
        return []
    elements = 2 * sizes.heads * sizes.head_dim
    each = measured.per_token / elements
    where = {"file": own["create"].file, "line": own["create"].line or None}
    if own["create"].file == ADAPTER:
        where = {"file": own["append"].file, "line": own["append"].line or None}
    found.limit(
        "quantized cache: bytes per element with scales, head size 64", each, 2.0, unit="B",
        otherwise=Verdict.FAIL if each > 4.0 else Verdict.WARN, curve=measured.curve,
        note=f"{measured.how}; float16 takes 2, float32 4", **where,
    )  # fmt: skip
    if each > 2.0:
        return [
            f"the quantized cache takes {each:.3g} bytes per element, where float16 takes 2 and float32 4"
        ]
    return [f"quantized: {each:.3g} bytes per element with its scales"]


def _sizes(subject: Subject) -> Sizes:
    """Heads and their width are drawn once."""
    one_of = subject.bench.sizes("bytes").one_of
    return subject.fitted(replace(_SIZES, heads=one_of(_HEADS), head_dim=one_of(_WIDTHS)))


def _expected(sizes: Sizes) -> int:
    return 2 * sizes.heads * sizes.head_dim * np.dtype(sizes.dtype).itemsize


def _double_only(subject: Subject, ratio: float) -> bool:
    """Whether twice the bytes are those of float64, and nothing else is too much."""
    if not 1.9 <= ratio <= 2.0 * _LIMIT:
        return False
    sizes = replace(_sizes(subject), dtype="float64")
    measured = weighed(subject, sizes)
    return measured is not None and measured.per_token / _expected(sizes) <= _LIMIT


def weighed(subject: Subject, sizes: Sizes) -> Measured | None:
    """Bytes per token and sequence; ``None`` where a cache made at once does not show its capacity."""
    create = subject.bound.get("create")
    if sized(create):
        full = [total(_fed(subject, replace(sizes, max_len=n), n)) for n in (16, 32)]
        per_token = (full[1] - full[0]) / (16 * sizes.batch)
        if per_token > 0:
            return Measured(
                per_token, f"{full[0]} B and {full[1]} B when made for 16 and 32 tokens and filled"
            )
    return _growing(subject, sizes)


def _fed(subject: Subject, sizes: Sizes, tokens: int) -> Cached:
    cached = subject.cached(sizes)
    q, k, v = drawn(subject.bench.rng("fed"), sizes, tokens)
    # Handed over one by one, so that no view of a long prompt is counted as the cache's own memory.
    cached.feed(q, k, v, whole=False)
    return cached


def _unread(subject: Subject, found: Findings) -> list[str]:
    return unread.judge(subject, found, _sizes(subject))


def _growing(subject: Subject, sizes: Sizes) -> Measured | None:
    """Bytes after every step: the fullest moment counts, since room for more is no bloat."""
    measured = _grown(subject, sizes, _STEPS)
    if measured is None or measured.per_token <= _LIMIT * _expected(sizes):
        return measured
    # A buffer of its own for the newest weighs less the longer a sequence is.
    further: Measured | None = None
    with suppress(Raised, BadResult, Skipped):
        further = _grown(subject, replace(sizes, max_len=_FURTHER), _FURTHER)
    return min(measured, further or measured, key=lambda each: each.per_token)


def _grown(subject: Subject, sizes: Sizes, tokens: int) -> Measured | None:
    cached = subject.cached(sizes)
    q, k, v = drawn(subject.bench.rng("growing"), sizes, tokens)
    before = total(cached)
    points: list[tuple[float, float]] = []
    for t in range(tokens):
        now = slice(t, t + 1)
        cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
        points.append((float(t + 1), float(total(cached))))
    curve = Curve("tokens per sequence", "bytes", tuple(points))
    slots = max((_slots(entry, sizes) for entry in entries(cached)), default=0)
    if points[-1][1] == points[0][1] and slots >= len(points):
        made = "at once" if points[0][1] == before else "at the first token"
        return Measured(
            points[-1][1] / (slots * sizes.batch),
            f"{points[-1][1]:.0f} B made {made} for {slots} tokens",
            curve,
        )
    if points[-1][1] > before:
        fullest = min([*points[15:], *_full(points)], key=lambda point: point[1] / point[0])
        per_token = fullest[1] / (fullest[0] * sizes.batch)
        return Measured(
            per_token, f"{fullest[1]:.0f} B at {fullest[0]:.0f} tokens, where it is fullest", curve
        )
    return None


def _full(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where the room is full, just before more is made; none where every token makes its own."""
    full = [one for one, other in pairwise(points) if other[1] > one[1]]
    return full if len(full) < _RARE else []


def _slots(entry: Entry, sizes: Sizes) -> int:
    """How many tokens an array has room for, by the axis that is no batch, head or head size."""
    left = list(entry.shape)
    for size in (sizes.batch, sizes.heads, sizes.head_dim):
        if size in left:
            left.remove(size)
    return max(left, default=0)
