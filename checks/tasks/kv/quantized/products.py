"""Attention over codes that is a little off: what of it is rounded to 16 bits before a product."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["rounded"]

Array = npt.NDArray[Any]
#: A rounding that explains an error leaves no more than this share of it.
_SHARE = 0.25
#: Steps of a code on each side of zero, and what keeps a row of zeros from dividing.
_LEVELS, _TINY = 127.0, 1e-30
#: How many bits of a number each form keeps.
_FORMS: dict[str, Callable[[Array], Array]] = {
    "float16": lambda x: x.astype(np.float16).astype(np.float64),
    "bfloat16": lambda x: _cut(x, 8),
}


def rounded(out: Array, q: Array, keys: Array, values: Array, limit: float) -> str:
    """What is rounded, and to which form, where that is the answer; empty where none is.

    Args:
        out: The answer, (B, H, 1, D).
        q: Its query, likewise.
        keys: What the cache gives back, (B, H, N, D).
        values: Likewise.
        limit: How far off an answer may be.
    """
    error = relative_error(out, attention(q, keys, values))
    with np.errstate(all="ignore"):
        near = {words: relative_error(out, answer) for words, answer in _answers(q, keys, values)}
    if not near or not np.isfinite(error):
        return ""
    words = min(near, key=lambda each: near[each])
    return words if near[words] <= max(limit, _SHARE * error) else ""


def _answers(q: Array, keys: Array, values: Array) -> Iterator[tuple[str, Array]]:
    """What roundings give, in words of each."""
    single, (q, keys, values) = q.astype(np.float32), (x.astype(np.float64) for x in (q, keys, values))
    steps, parts = (np.abs(x).max(-1) / _LEVELS + _TINY for x in (keys, values))
    codes, own = keys / steps[..., None], values / parts[..., None]
    for form, cut in _FORMS.items():
        yield f"its query is rounded to {form}", attention(cut(q), keys, values)
        yield f"its keys are rounded to {form}", attention(q, cut(keys), values)
        yield f"its values are rounded to {form}", attention(q, keys, cut(values))
        # as it is done in float32: numbers between two of fewer bits go the same way
        folded = cut(single * steps[..., None].astype(np.float32))
        scores = np.einsum("bhnd,bhnd->bhn", folded, codes)
        words = f"the scale of the keys is multiplied into the query, and that is rounded to {form}"
        yield f"{words} before its product with the codes", _weighed(scores, values)
        plain = np.einsum("bhnd,bhnd->bhn", np.broadcast_to(q, keys.shape), keys)
        yield f"its scores are rounded to {form}", _weighed(cut(plain), values)
        weights = _softmax(plain / np.sqrt(q.shape[-1]))
        yield (
            f"its weights are rounded to {form}",
            np.einsum("bhn,bhnd->bhd", cut(weights), values)[:, :, None],
        )
        mixed = np.einsum("bhn,bhnd->bhd", cut(weights * parts), own)
        words = f"the scale of the values is multiplied into the weights, and that is rounded to {form}"
        yield f"{words} before its product with the codes", mixed[:, :, None]


def _weighed(scores: Array, values: Array) -> Array:
    """(B, H, 1, D) of scores (B, H, N) that are not yet divided by √D."""
    weights = _softmax(scores / np.sqrt(values.shape[-1]))
    return np.asarray(np.einsum("bhn,bhnd->bhd", weights, values)[:, :, None])


def _softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def _cut(x: Array, bits: int) -> Array:
    """Numbers rounded to so many bits, the leading one among them."""
    fraction, exponent = np.frexp(x)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits))
