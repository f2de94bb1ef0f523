"""What is remembered is found by content, whoever made it, and only the latest stay."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.remembered import Remembered

ONE = np.arange(6.0).reshape(2, 3)


def made_again(*given: npt.NDArray[np.generic], more: tuple[object, ...] = ()) -> bool:
    """Whether a result is made anew for arrays after one was made for ``ONE``."""
    known: Remembered[int] = Remembered()
    known.of((ONE,), lambda: 1, True)
    return known.of(given, lambda: 2, *(more or (True,))) == 2


@pytest.mark.parametrize("same", [ONE.copy(), np.asfortranarray(ONE), np.repeat(ONE, 2, axis=0)[::2]])
def test_equal_content_is_known_whatever_its_strides(same: npt.NDArray[np.generic]) -> None:
    assert not made_again(same)


def test_other_numbers_shapes_dtypes_and_settings_are_other_content() -> None:
    zero, other = ONE.copy(), ONE.copy()
    other[1, 2] = np.nextafter(other[1, 2], 0)
    assert made_again(other)
    assert made_again(ONE.reshape(3, 2))
    assert made_again(ONE.astype(np.float32))
    assert made_again(ONE.view(np.int64))
    assert made_again(ONE, more=(False,))
    assert made_again(ONE, ONE)
    zero[0, 0] = -0.0
    assert made_again(zero)


def test_changing_an_array_makes_other_content() -> None:
    known: Remembered[float] = Remembered()
    array = ONE.copy()
    assert known.of((array,), lambda: float(array.sum())) == 15
    array[0, 0] = 5
    assert known.of((array,), lambda: float(array.sum())) == 20


def test_the_latest_stay() -> None:
    known: Remembered[int] = Remembered(2)
    for value in (1, 2, 1, 3):
        known.of((np.full(1, value),), lambda value=value: value)
    assert known.of((np.full(1, 1),), lambda: -1) == 1
    assert known.of((np.full(1, 2),), lambda: -1) == -1
