"""Tokens that come one by one behind a prompt: whether they ever become codes, and in how many bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.storage import total
from judge_tui.checks.tasks.kv.quantized.coder import CacheCoder
from judge_tui.checks.tasks.kv.quantized.held import Judged

__all__ = ["judge_aging"]

Array = npt.NDArray[np.float32]
#: Tokens at once, and one by one behind them: more than are kept as they are, or wait until a group is full.
_PROMPT, _STEPS, _WIDTH = 512, 320, 64
#: How many of the steps' tokens may be there as they were, beside those of the prompt.
_MOST = 0.9
#: Bytes of a number of half precision.
_HALF = 2.0
#: How many times the bytes of the same tokens in one call are more than rounding up to groups explains.
_TIMES = 1.5
#: How far off a number within ±1 is at most that is no code, but float16 at the least.
_SAME = 6e-4


def judge_aging(job: Judged) -> None:
    """Count the tokens that come back as they went in, after a prompt and again after many steps.

    Args:
        job: A quantized cache.
    """
    coder = job.coder
    if not isinstance(coder, CacheCoder) or not coder.feeds_whole:
        return
    quantity = (
        f"{job.label}: of {_STEPS} tokens behind a prompt of {_PROMPT}, one by one, those kept as they were"
    )
    shape = (1, coder.heads, _PROMPT + _STEPS, _WIDTH)
    k, v = job.draw("aging", job.told).uniform(-1, 1, (2, *shape)).astype(np.float32)
    try:
        cached = coder.opened(shape, job.told)
        _feed(cached, k[:, :, :_PROMPT], v[:, :, :_PROMPT], whole=True)
        before, held = _as_they_were(cached, k, v), total(cached)
        _feed(cached, k[:, :, _PROMPT:], v[:, :, _PROMPT:], whole=False)
        kept, each = (
            _as_they_were(cached, k, v) - before,
            (total(cached) - held) / (2 * k[:, :, _PROMPT:].size),
        )
    except (Raised, BadResult, Skipped) as fault:
        job.found.note(quantity, "not judged", note=fault.message)
        return
    most = int(_MOST * _STEPS)
    _judge_bytes(job, k, v, each)
    note = f"{before} of the prompt; {each:.3g} bytes per number of the steps"
    if before == _PROMPT:
        # what keeps a prompt as it is keeps codes of nothing that shows here
        job.found.note(quantity, kept, note=note)
    elif not job.found.limit(quantity, kept, most, unit="tokens", note=note, **coder.where):
        weight = f" ({each:.3g} bytes per number)" if each > _HALF else ""
        job.wrong.append(
            f"tokens that come one by one never become codes: behind a prompt of {_PROMPT}, of which "
            f"{before} are kept in full precision, {kept} of {_STEPS} further ones are too{weight}"
        )


def _judge_bytes(job: Judged, k: Array, v: Array, each: float) -> None:
    """Hold what tokens one by one take against float16, where the same in one call take less.

    Args:
        job: A quantized cache.
        k: The prompt's keys and those of the steps, (1, H, N, D).
        v: Values likewise.
        each: Bytes per number that the steps took.
    """
    coder = job.coder
    if not isinstance(coder, CacheCoder) or not each > _HALF:
        return
    try:
        at_once, several = _steps(coder, job.told, k, v, whole=True)
        if not at_once <= min(_HALF, each / _TIMES):
            return
        single = _steps(coder, job.told, k, v, whole=False)[1]
    except (Raised, BadResult, Skipped):
        return
    most = _MOST * _STEPS
    exact = [name for name in single if single[name] > most > several[name]]
    note = f"{at_once:.3g} where they come in one call"
    job.found.limit(
        f"{job.label}: bytes per number, scales included, of {_STEPS} tokens that come one by one",
        each, _HALF, unit="B", note=note, **coder.where,
    )  # fmt: skip
    alone = f"; their {' and '.join(exact)} come back exact: each is a group by itself" if exact else ""
    job.wrong.append(
        f"tokens that come one by one take {each:.3g} bytes per number, scales included, where float16 takes "
        f"{_HALF:g} and the same tokens in one call {at_once:.3g}{alone}"
    )


def _steps(coder: CacheCoder, told: int, k: Array, v: Array, *, whole: bool) -> tuple[float, dict[str, int]]:
    """Bytes per number of the steps' tokens, and how many of their keys and values are as they were."""
    cached = coder.opened(k.shape, told)
    _feed(cached, k[:, :, :_PROMPT], v[:, :, :_PROMPT], whole=True)
    held = total(cached)
    _feed(cached, k[:, :, _PROMPT:], v[:, :, _PROMPT:], whole=whole)
    exact = {}
    for name, got, x in zip(("keys", "values"), cached.stored(0), (k, v), strict=True):
        off = np.abs(got - x[:, :, : got.shape[2]]).max(axis=(0, 1, 3))
        exact[name] = int(np.sum(off[_PROMPT:] <= _SAME))
    return (total(cached) - held) / (2 * k[:, :, _PROMPT:].size), exact


def _feed(cached: Cached, k: Array, v: Array, *, whole: bool) -> None:
    cached.feed(np.zeros_like(k), k, v, whole=whole)


def _as_they_were(cached: Cached, k: Array, v: Array) -> int:
    """How many tokens come back as they went in."""
    pairs = zip(cached.stored(0), (k, v), strict=True)
    off = [np.abs(got - x[:, :, : got.shape[2]]).max(axis=(0, 1, 3)) for got, x in pairs]
    return int(np.sum(np.maximum(*off) <= _SAME))
