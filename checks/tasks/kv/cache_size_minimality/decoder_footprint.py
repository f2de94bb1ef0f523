"""What a decoder keeps of every token, where its cache is its own: in bytes, and with shared heads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.slots import arrays, changed
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["judge"]

#: Four heads of 32: a position or an id per token weighs little beside keys and values.
_SIZES: dict[str, Any] = {"embed": 128, "heads": 4}
_HEAD_DIM, _TOKENS = 32, 24
_LIMIT, _WARN = 1.10, 1.25
#: From here on the fullest moment is looked for: room made ahead is no bloat.
_FIRST = 11


def judge(subject: Subject, found: Findings) -> list[str]:
    """Bytes that a token adds, where no cache goes by itself; what two heads to a key save.

    Returns:
        What was established, in a sentence each; empty where nothing was.
    """
    parts = (_shared,) if subject.mode else (_per_token, _shared)
    said = []
    for part in parts:
        try:
            said += part(subject, found)
        except (Raised, BadResult, Skipped) as fault:
            found.note("the decoder's cache", "not measured", note=fault.message)
    return said


def _per_token(subject: Subject, found: Findings) -> list[str]:
    """Bytes beyond those at the start, where they are fullest, over those of keys and values."""
    decoder = subject.bound.get("decoder")
    if decoder is None or not (decoder.takes("embed") and decoder.takes("heads") and decoder.takes("layers")):
        return []
    one = subject.maker(**_SIZES)(1)
    given = one.draw(subject.bench.rng("footprint"), _TOKENS)
    before = one.held()
    one.prefill(given[:, :1])
    points = [(1.0, float(one.held() - before))]
    for t in range(1, _TOKENS):
        one.decode(given[:, t])
        points.append((float(t + 1), float(one.held() - before)))
    if points[-1][1] <= points[_FIRST][1]:
        return []
    full = [early for early, late in pairwise(points) if late[1] > early[1]]
    tokens, taken = min([*points[_FIRST:], *full[_FIRST:]], key=lambda point: point[1] / point[0])
    wide = _dtypes(one) == {"float64"}
    itemsize = 8 if wide else 4
    expected = 2 * one.sizes.layers * _SIZES["heads"] * _HEAD_DIM * itemsize
    ratio = taken / tokens / expected
    dtype = "float64" if wide else "float32"
    found.limit(
        f"decoder: bytes per token over {expected} B (2 · {one.sizes.layers} · 4 · 32 · {itemsize}), {dtype}",
        ratio, _LIMIT, otherwise=Verdict.WARN if ratio <= _WARN else Verdict.FAIL,
        note=f"{taken:.0f} B beyond those at its start at {tokens:.0f} tokens, where it is fullest",
        curve=Curve("tokens", "bytes", tuple(points)), **subject.where("prefill", "decode"),
    )  # fmt: skip
    return [f"decoder: {taken / tokens:.5g} bytes per token, {ratio:.3g} × what {dtype} keys and values need"]


def _shared(subject: Subject, found: Findings) -> list[str]:
    """The same model with a key for every two heads: what its prompt changed takes half as much."""
    decoder = subject.bound.get("decoder")
    if decoder is None or not (decoder.takes("heads") and decoder.takes("kv_heads")):
        return []
    whole, half = (_kept(subject, heads) for heads in (4, 2))
    if not whole or not half:
        return []
    share = half / whole
    fine = found.limit(
        "decoder: bytes of what 24 tokens left in it, with 2 keys for 4 heads over those with 4",
        share, 0.5 * _WARN, note=f"{half} B, {whole} B; ½ where the keys are kept that heads share",
        **subject.where("prefill", "decode"),
    )  # fmt: skip
    if fine:
        return ["with two heads to a key the decoder keeps half as much"]
    return [f"with two heads to a key the decoder keeps {share:.2g} of all: a copy per head"]


def _kept(subject: Subject, kv_heads: int) -> int:
    """Bytes of the arrays that tokens have changed, or made."""
    one = subject.maker(**_SIZES, kv_heads=kv_heads)(1)
    before = arrays(one)
    given = one.draw(subject.bench.rng("shared"), _TOKENS)
    one.prefill(given[:, :1])
    for t in range(1, _TOKENS):
        one.decode(given[:, t])
    kept = changed(before, arrays(one)).values()
    return sum(int(values.size) * np.dtype(dtype).itemsize for _handle, values, dtype in kept)


def _dtypes(decoder: Decoder) -> set[str]:
    """Of the floating-point arrays that lie in the cache, or in the model where it is a part of that."""
    root = decoder.state if isinstance(decoder.state, Handle) else None
    found = arrays(decoder)
    return {dtype for handle, _values, dtype in found.values() if root is None or handle.id == root.id}
