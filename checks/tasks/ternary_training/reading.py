"""Reading what a projection gives back: projected weights, or codes with their scales, padded or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.ternary_training.grouping import Grouping, mean_scale

__all__ = ["agreement", "projected"]

Array = npt.NDArray[Any]

#: Share of signs that a projection has in common with its weights, however wrong its scale is.
_RELATED = 0.75


def agreement(value: Any, inputs: Mapping[str, Any]) -> float:
    """How well an answer fits the sample: the share of signs that it keeps.

    Raises:
        BadResult: It is no projection of the weights that it was given.
    """
    weight = inputs["weight"]
    found = projected(value, weight, int(inputs["group_size"]))
    told = found != 0
    share = float(np.mean(np.sign(found[told]) == np.sign(weight[told]))) if told.any() else 0.0
    if share < _RELATED:
        raise BadResult("gives nothing that is related to the weights which it was given")
    return share


def projected(value: Any, weight: Array, group: int) -> Array:
    """The projected weights, of the weight's own shape.

    Args:
        value: What was returned, as plain data.
        weight: What was projected.
        group: Weights per scale.

    Raises:
        BadResult: They cannot be told.
    """
    arrays = list(_arrays(value))
    whole = [found for array in arrays if (found := _shaped(array, weight.shape, group)) is not None]
    if not whole:
        raise BadResult("gives no array of the weights' shape")
    plain = [array for array in whole if not _codes(array) and (array < 0).any()]
    if plain:
        return plain[0]
    codes = next((array for array in whole if _codes(array) and (array < 0).any()), None)
    if codes is None:
        return whole[0]
    for array in arrays:
        spread = [each for each in _expanded(array, weight, group) if not _codes(each[0])]
        if spread:
            # as many scales as rows may be as many as groups: spread as they are meant, they are nearest
            return np.asarray(codes * min(spread, key=lambda each: float(np.abs(each[0] - each[1]).max()))[0])
    return codes


def _codes(array: Array) -> bool:
    return bool(np.isin(array, (-1.0, 0.0, 1.0)).all())


def _arrays(value: Any) -> Iterator[Array]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _arrays(item)
        return
    if isinstance(value, bool) or not isinstance(value, (list, int, float)):
        return
    try:
        array = np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        for item in value if isinstance(value, list) else ():
            yield from _arrays(item)
        return
    yield array
    # Two results of one shape, as a list of both, look like one array.
    if isinstance(value, list) and len(value) <= 4 and array.ndim > 1:
        yield from array


def _shaped(array: Array, shape: tuple[int, ...], group: int) -> Array | None:
    """An array as (out, in): as it is, flat, or in groups whose last is padded."""
    rows, width = shape
    if array.shape == shape:
        return array
    if array.size == rows * width and array.ndim in (1, 3, 2) and array.shape != shape[::-1]:
        return array.reshape(shape)
    padded = -(-width // group) * group
    if array.size == rows * padded and array.ndim > 1:
        return array.reshape(rows, padded)[:, :width]
    total = -(-rows * width // group) * group
    return (
        array.reshape(-1)[: rows * width].reshape(shape) if array.size == total and array.ndim > 1 else None
    )


def _expanded(array: Array, weight: Array, group: int) -> Iterator[tuple[Array, Array]]:
    """Scales as one per weight: given per weight, per group of a row, per group of all, or one for all.

    Yields:
        The scales so spread, and mean|W| of what shares one then.
    """
    rows, width = shape = weight.shape

    def meant(along: str) -> Array:
        return mean_scale(weight, Grouping("", along, group), transposed=False).values

    if array.shape == shape:
        yield array, np.abs(weight)
        return
    per_row, in_all = -(-width // group), -(-rows * width // group)
    if array.size == rows * per_row:
        yield array.reshape(rows, per_row).repeat(group, axis=1)[:, :width], meant("inputs")
    if array.size == in_all:
        yield array.reshape(-1).repeat(group)[: rows * width].reshape(shape), meant("flat")
    if array.size == rows and array.ndim:
        yield np.broadcast_to(array.reshape(rows, 1), shape), meant("row")
    if array.size == 1:
        yield np.broadcast_to(array.reshape(1, 1), shape), meant("all")
