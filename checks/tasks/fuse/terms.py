"""Which terms a wrong sum of exponentials lacks, holds twice or has besides, whoever adds them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

__all__ = ["mistakes"]

Floats = npt.NDArray[np.float64]
#: Terms exp(x − max) of a row (V,), and x − max → their sum.
Total = Callable[[Floats, Floats], float]
#: Units to which rows are padded, and by how much a logit is below the largest whose term is left out.
_PADDED = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
_BELOW = range(4, 21)


def mistakes() -> Iterator[tuple[str, Callable[[Floats], float]]]:
    """A mistake as a clause, and what logarithm of the sum it gives of a row (V,)."""
    for words, total in _totals():
        yield words, partial(_log, total)
    for unit in _PADDED:
        yield f"the sum goes on to a multiple of {unit}, with logits of 0", partial(_padded, unit)


def _totals() -> Iterator[tuple[str, Total]]:
    yield "the sum lacks the largest logit's own term", lambda terms, _: terms.sum() - 1
    yield "the sum holds the largest logit's term twice, or begins at 1", lambda terms, _: terms.sum() + 1
    yield "the sum is one of 2^(x − max), not of exp(x − max)", lambda _, below: np.exp2(below).sum()
    yield "the sum lacks the last logit", lambda terms, _: terms[:-1].sum()
    yield "the sum lacks the first logit", lambda terms, _: terms[1:].sum()
    yield "the sum is a mean: it is divided by V", lambda terms, _: terms.mean()
    yield "the sum is one of squares", lambda terms, _: (terms**2).sum()
    for part, words in ((0, "first"), (-1, "last")):
        told = f"of the logits behind the last multiple of 4 the {words} is left out of the sum"
        yield told, partial(_one_of_rest, part)
    for depth in _BELOW:
        told = f"the sum lacks logits that are more than {depth} below the largest"
        yield told, partial(_cut, float(depth))


def _log(total: Total, row: Floats) -> float:
    below = row - row.max()
    return float(row.max() + np.log(total(np.exp(below), below)))


def _cut(depth: float, terms: Floats, below: Floats) -> float:
    return float(terms[below > -depth].sum())


def _one_of_rest(part: int, terms: Floats, _below: Floats) -> float:
    rest = terms[len(terms) // 4 * 4 :]
    return float(terms.sum() - (rest[part] if len(rest) else 0.0))


def _padded(unit: int, row: Floats) -> float:
    top = row.max()
    return float(top + np.log(np.exp(row - top).sum() + -len(row) % unit * np.exp(-top)))
