"""The V of wrong single rows are narrowed between right ones, and a range is told at both ends."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.size_conditions import only_where
from judge_tui.checks.tasks.fuse import widths
from judge_tui.checks.tasks.fuse.widths import between


def told(right: Callable[[int], bool]) -> tuple[str, int]:
    """What is said of a launcher, and of how many V it was asked."""
    rungs = [int(V) for V in np.geomspace(40, 6000, 26)]
    seen: dict[int, bool] = {}
    for _round in range(5):
        seen |= {V: right(V) for V in rungs}
        rungs = list(between(seen))
    return only_where([({"V": V}, fine) for V, fine in seen.items()], limits=True), len(seen)


@pytest.mark.parametrize(
    ("right", "words"),
    [
        (lambda V: not 129 <= V <= 1020, "wrong for V from 129 to 1020, right for smaller and larger"),
        (lambda V: V <= 512, "right up to V = 512, wrong from V = 513 on"),
        (lambda V: V > 512, "wrong up to V = 512, right from V = 513 on"),
        (lambda _: True, ""),
        (lambda _: False, ""),
    ],
)
def test_where_single_rows_are_wrong(right: Callable[[int], bool], words: str) -> None:
    found, count = told(right)
    assert found == words
    assert count <= 26 + 4 * 6


def test_nothing_is_asked_for_where_nothing_is_wrong_or_nothing_lies_between() -> None:
    assert list(between({50: True, 60: True})) == []
    assert list(between({50: True, 51: False, 52: True})) == []
    assert list(between({50: True, 60: False, 64: True})) == [52, 55, 57, 61, 62, 63]


def test_where_all_short_rows_are_wrong_long_ones_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(_bench: Any, _settled: Any, questions: Any, **_of: Any) -> list[Any]:
        return [
            SimpleNamespace(question=q, right=q.logits.shape[1] >= 16384, undecided=False, refused=False)
            for q in questions
        ]

    monkeypatch.setattr(widths, "ask", ask)
    monkeypatch.setattr(widths, "usual", lambda _settled, most: most)
    bench: Any = SimpleNamespace(rng=lambda *_: np.random.default_rng(0), left=1e9)
    settled: Any = None
    seen = widths._asked(bench, settled)
    wrong, fine = ([V for V, right in seen.items() if right is which] for which in (False, True))
    assert max(wrong) < 16384 <= min(fine)
    assert min(fine) - max(wrong) < 500
