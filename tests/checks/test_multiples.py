"""A clause about multiples stands only where sizes of right and of wrong calls differ in nothing else."""

from __future__ import annotations

import pytest

from judge_tui.checks.multiples import only_where


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ((8, 16, 24, 40), (3, 7, 9, 12), "wrong wherever D is no multiple of 8, and only there"),
        ((2, 4, 6), (1, 3, 5, 7), "wrong wherever D is no multiple of 2, and only there"),
        ((1, 2, 4, 64), (3, 6, 7, 96), "wrong wherever D is no power of two, and only there"),
        ((1, 2, 4, 64, 96), (3, 6, 7, 100), ""),
        ((1, 2, 4), (3, 6, 7, 16), ""),
        ((1, 2, 4), (1, 3, 6, 7), ""),
        ((8, 16, 24), (3, 7, 9), ""),
        ((8, 16), (3, 7, 9, 11), ""),
        ((), (3, 7, 9, 11), ""),
        ((8, 16, 24), (), ""),
    ],
)
def test_only_where(right: tuple[int, ...], wrong: tuple[int, ...], words: str) -> None:
    calls = [({"B": 2, "D": size}, True) for size in right] + [({"B": 2, "D": size}, False) for size in wrong]
    assert only_where(calls) == words


def test_the_axis_that_tells_them_apart_is_named() -> None:
    calls = [({"T": 4 * n, "D": n}, True) for n in range(1, 9)]
    calls += [({"T": 4 * n + 1, "D": n}, False) for n in range(1, 9)]
    assert only_where(calls) == "wrong wherever T is no multiple of 2, and only there"
