"""What is in the place of a right y or dx in rows without variance, and in features that gamma turns off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.diagnosis import DX
from judge_tui.checks.tasks.backwards.reference import Batch, Gradients

__all__ = ["flat_rows"]

Array = npt.NDArray[Any]
_SAME = 1e-9
#: Rows whose variance is so little of eps are flat.
_FLAT = 1e-6


def flat_rows(batch: Batch, y: Array, answer: Gradients, name: str) -> str:
    """What is in the place of the right answer, as a clause; empty where nothing is known.

    Args:
        batch: The input.
        y: The forward's answer.
        answer: The backward's.
        name: What is wrong: ``y``, ``dx``, ``dgamma`` or ``dbeta``.
    """
    row = reference.statistics(batch)
    flat = (row.var <= _FLAT * batch.eps)[..., 0]
    right, made = (
        (reference.forward(batch), y)
        if name == "y"
        else (np.asarray(getattr(of, name)) for of in (reference.gradients(batch), answer))
    )
    with np.errstate(all="ignore"):
        if not np.isfinite(made).all():
            return _not_finite(made, flat, batch, name, bool(np.isfinite(y).all()))
        off = ~(np.abs(made - right) <= _SAME * max(float(np.abs(right).max()), 1e-300))
        if name == "dx":
            return _of_dx(batch, made, right, off, flat)
        if name != "y" and off[batch.gamma == 0].all() and not off[batch.gamma != 0].any() and off.any():
            return _turned_off(made[off])
    return ""


def _not_finite(made: Array, flat: npt.NDArray[np.bool_], batch: Batch, name: str, finite: bool) -> str:
    if batch.width == 1:
        return "with one feature alone: a division by D − 1?"
    if made.ndim == 1:
        odd = ~np.isfinite(made)
        off = batch.gamma == 0
        return "where gamma is 0 alone: it is divided by" if odd.any() and (odd == off).all() else ""
    rows = ~np.isfinite(made).all(axis=-1)
    if not flat.any() or (rows & ~flat).any():
        return ""
    beside = ", though y is finite there" if name == "dx" and finite else ""
    alone = "" if flat.all() else " alone"
    return f"in rows without variance{alone}{beside}: something is divided by their spread without eps"


def _of_dx(
    batch: Batch, made: Array, right: Array, off: npt.NDArray[np.bool_], flat: npt.NDArray[np.bool_]
) -> str:
    rows = off.any(axis=-1)
    if (batch.gamma == 0).any():
        columns = off.any(axis=(0, 1))
        if columns.any() and (columns == (batch.gamma == 0)).all():
            return "in features whose gamma is 0 alone"
    if not flat.any() or not rows.any() or (rows & ~flat).any():
        return ""
    many = "" if flat.all() else " alone"
    for words, gives in _known(batch).items():
        with np.errstate(all="ignore"):
            wanted = gives(batch)
        if _same(made[rows], wanted[rows]) and not _same(wanted[rows], right[rows]):
            return f"in rows without variance{many} it is {words}"
    share = (made[rows] * right[rows]).sum() / max(float((right[rows] ** 2).sum()), 1e-300)
    if share and _same(made[rows], share * right[rows]):
        return f"in rows without variance{many} it is {share:.3g} times what it should be"
    return f"in rows without variance{many}" if many else ""


def _known(batch: Batch) -> Mapping[str, Callable[[Batch], Array]]:
    return {
        "0: they get no gradient": lambda b: np.zeros(b.shape),
        "g, without rstd": lambda b: b.dy * b.gamma,
        **{f"what the formula gives {words}": gives for words, gives in DX.items()},
    }


def _same(made: Array, wanted: Array) -> bool:
    return bool(np.abs(made - wanted).max() <= _SAME * max(float(np.abs(wanted).max()), 1e-300))


def _turned_off(made: Array) -> str:
    what = "0" if not made.any() else "not the sum over rows"
    return f"of features whose gamma is 0 it is {what}"
