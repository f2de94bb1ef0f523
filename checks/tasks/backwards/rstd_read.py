"""What stands for rstd = 1/√(var + eps), by what it is for each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.reference import Batch

__all__ = ["wrong_rstd"]

Array = npt.NDArray[np.float64]
_SAME = 1e-6
#: Rows at least that tell one formula from another.
_FEWEST = 3


def wrong_rstd(batches: Sequence[Batch], made: Sequence[Array]) -> str:
    """What rstd is instead, as a clause; empty where it is right, or nothing known.

    Args:
        batches: The draws.
        made: (R,) what stands for rstd in each row of them.
    """
    right = [reference.statistics(batch).rstd.ravel() for batch in batches]
    if sum(map(len, made)) < _FEWEST or all(_alike(*pair) for pair in zip(made, right, strict=True)):
        return ""
    with np.errstate(all="ignore"):
        for words, gives in _INSTEAD.items():
            if all(_alike(one, gives(batch)) for one, batch in zip(made, batches, strict=True)):
                return f"rstd is {words}"
        return _of_another_eps(batches, made)


def _alike(made: Array, wanted: Array) -> bool:
    return bool((np.abs(made - wanted) <= _SAME * np.abs(wanted)).all())


def _of_another_eps(batches: Sequence[Batch], made: Sequence[Array]) -> str:
    """Whether it is 1/√(var + another number), the same in all rows."""
    var = np.concatenate([_var(batch) for batch in batches])
    more = np.concatenate(made) ** -2.0 - var
    least = int(np.argmin(var))
    eps, told = float(more[least]), batches[0].eps
    if not np.isfinite(more).all() or eps <= 0 or np.abs(more - eps).max() > _SAME * (var.max() + eps):
        return ""
    return f"rstd is that of eps = {eps:.3g} where {told:g} is told"


def _var(batch: Batch) -> Array:
    return np.asarray(reference.statistics(batch).var.ravel())


def _rstd(batch: Batch) -> Array:
    return np.asarray(reference.statistics(batch).rstd.ravel())


def _inverse_root(of: Callable[[Batch], Array]) -> Callable[[Batch], Array]:
    return lambda batch: np.asarray(1.0 / np.sqrt(of(batch)))


#: What may stand for it → (R,).
_INSTEAD: Mapping[str, Callable[[Batch], Array]] = {
    "1/√(rstd + eps): rstd itself is taken for the variance, and inverted twice": _inverse_root(
        lambda b: _rstd(b) + b.eps
    ),
    "1/√rstd: rstd itself is taken for the variance, and inverted twice": _inverse_root(_rstd),
    "1/√(std + eps): the standard deviation is taken for the variance": _inverse_root(
        lambda b: 1.0 / _rstd(b) + b.eps
    ),
    "1/√std: the root is taken twice": _inverse_root(lambda b: 1.0 / _rstd(b)),
    "1/√(std of var alone + eps): the root is taken twice": _inverse_root(lambda b: np.sqrt(_var(b)) + b.eps),
    "1/√(rstd² + eps): rstd² is taken for the variance": _inverse_root(lambda b: _rstd(b) ** 2 + b.eps),
    "√(var + eps), which is not inverted": lambda b: 1.0 / _rstd(b),
    "var + eps, of which neither root nor inverse is taken": lambda b: _rstd(b) ** -2.0,
    "1/(var + eps), without the root": lambda b: _rstd(b) ** 2,
    "rstd three times": lambda b: _rstd(b) ** 3,
    "1/√var, without eps": _inverse_root(_var),
    "1/(√var + eps), eps outside of the root": lambda b: 1.0 / (np.sqrt(_var(b)) + b.eps),
    "1/√(var + 2·eps): eps is added twice": _inverse_root(lambda b: _var(b) + 2.0 * b.eps),
    "1/√(var + eps²)": _inverse_root(lambda b: _var(b) + b.eps**2),
    "1/√(var + √eps)": _inverse_root(lambda b: _var(b) + np.sqrt(b.eps)),
    "1/√(var − eps)": _inverse_root(lambda b: _var(b) - b.eps),
    "that of a variance over D − 1": _inverse_root(lambda b: _var(b) * b.width / (b.width - 1) + b.eps),
    "that of a sum of squares, not over D": _inverse_root(lambda b: _var(b) * b.width + b.eps),
    "that of the mean square, the mean not taken off": _inverse_root(
        lambda b: (b.x.reshape(-1, b.width) ** 2).mean(axis=-1) + b.eps
    ),
    "1": lambda b: np.ones(b.x[..., 0].size),
}
