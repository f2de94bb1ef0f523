"""Whether decode steps are right but for a lower precision, by a few mild steps and by small integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.precision import Formula, Lowered, Rounding, lowered, same
from judge_tui.checks.rounded_attention import attention_in_steps
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn

__all__ = ["lower_precision"]

Array = npt.NDArray[Any]
#: q, k and v, (B, H, S, D) each.
_Stream = tuple[Array, Array, Array]
_TOKENS, _BATCH = 9, 2


def lower_precision(subject: Subject) -> Lowered | None:
    """What the deviation of decode steps is, where it is that of a lower precision.

    Args:
        subject: What was seen wrong.
    """
    sizes = subject.fitted(subject.sizes(_BATCH, _TOKENS + 2, "float32"))
    stream = drawn(subject.bench.rng("lower precision"), sizes, _TOKENS)
    try:
        return lowered(
            _steps(subject, sizes, stream), _in_steps(stream), dtype=np.float32,
            exact=_exact(subject, sizes, stream),
        )  # fmt: skip
    except Fault:
        return None


def _steps(subject: Subject, sizes: Any, stream: _Stream) -> dict[str, Array]:
    """Every step from an empty cache, but for the first: one key alone hides what is rounded."""
    cached = subject.cached(sizes)
    outs = [cached.feed(*(x[:, :, t : t + 1] for x in stream)) for t in range(_TOKENS)]
    return {str(t): np.asarray(out, np.float64) for t, out in enumerate(outs) if t}


def _in_steps(stream: _Stream) -> Formula:
    q, k, v = (x.astype(np.float64) for x in stream)
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))

    def formula(by: Rounding) -> dict[str, Array]:
        return {
            str(t): attention_in_steps(by, q[:, :, t : t + 1], k[:, :, : t + 1], v[:, :, : t + 1])
            for t in range(1, _TOKENS)
        }

    return formula


def _exact(subject: Subject, sizes: Any, like: _Stream) -> Callable[[float], bool]:
    """Steps of which the first two keys share the weight, and whose queries have nothing else in common."""

    def exact(share: float) -> bool:
        rng = subject.bench.rng("integers")
        q, k = (np.zeros_like(x) for x in like[:2])
        v = (2.0 * rng.integers(-3, 4, like[2].shape)).astype(like[2].dtype)
        q[..., 0], k[..., 0] = 8.0, -32.0
        k[:, :, :2] = 0.0
        k[:, :, :2, 1:] = rng.integers(-3, 4, k[:, :, :2, 1:].shape)
        truth = _in_steps((q, k, v))(lambda _, value: value)
        return same(_steps(subject, sizes, (q, k, v)), truth, share)

    return exact
