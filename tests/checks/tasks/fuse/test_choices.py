"""What was chosen in place of a top-k is told by the reading that fits all wrong rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.tasks.fuse.answered_rows import Row
from judge_tui.checks.tasks.fuse.choices import chosen_instead
from judge_tui.checks.tasks.fuse.elsewhere import out_of_range
from judge_tui.checks.tasks.fuse.missing_entries import as_it_is

Logits = npt.NDArray[np.float32]
#: A launch and the number of a row of it → the indices that come.
Kernel = Callable[[Logits, int], npt.NDArray[np.int64]]
K = 10


def top(values: npt.NDArray[np.generic], count: int = K) -> npt.NDArray[np.int64]:
    return np.asarray(np.lexsort((np.arange(len(values)), -values.astype(np.float64)))[:count])


def told(kernel: Kernel, rows: int = 4, V: int = 1003, shift: float = 0.0) -> str:
    logits = (np.random.default_rng(3).normal(scale=3, size=(rows, V)) + shift).astype(np.float32)
    found = [Row(logits[row], kernel(logits, row), row, logits) for row in range(rows)]
    return chosen_instead(found) or as_it_is(found)


def only(kept: npt.NDArray[np.bool_], row: Logits) -> npt.NDArray[np.int64]:
    return top(np.where(kept, row, -np.inf))


PLACES = np.arange(1003)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda x, r: top(x[r]), ""),
        (lambda x, r: top(x[r])[::-1], "smallest first"),
        (lambda x, r: np.sort(top(x[r])), "in the order of their places"),
        (lambda x, r: top(-x[r]), "chosen the smallest first"),
        (lambda x, r: top(np.abs(x[r])), "by their size without the sign"),
        (lambda x, r: top(x[r], K + 1)[1:], "the largest is missing"),
        (lambda x, r: np.append(top(x[r])[:-1], top(x[r], K + 1)[-1]), "the K-th largest is missing"),
        (lambda x, r: only(PLACES < 512, x[r]), "no index from 512 on"),
        (lambda x, r: only(PLACES % 256 < 128, x[r]), "no index with index % 256 ≥ 128"),
        (lambda x, r: only(PLACES % 8 != 7, x[r]), "no index with index % 8 = 7"),
        (lambda x, r: top(x[(r + 1) % 4]), "another row's indices"),
        (lambda x, r: top(x[r]) + 1, "each index is 1 off"),
        (lambda x, r: top(x.reshape(-1)[r * 1000 :][:1003]), "V rounded down to a multiple of four"),
        (lambda x, r: top(x[r]) - (-r * 1003) % 4, "first 16-byte boundary"),
    ],
)
def test_a_mistake_is_told_by_what_it_gives(kernel: Kernel, words: str) -> None:
    found = told(kernel)
    assert words in found
    assert bool(words) is bool(found)


def test_logits_below_zero_whose_bits_are_compared_are_told() -> None:
    assert "signed integers" in told(lambda x, r: top(x[r].view(np.int32)), shift=-9)


def test_of_orders_that_fit_the_finest_is_told() -> None:
    assert "rounded to float16" in told(lambda x, r: top(x[r].astype(np.float16)), shift=600)


def test_a_rule_that_a_right_row_refutes_is_not_told() -> None:
    found = told(lambda x, r: only(PLACES < 512, x[r]) if r % 2 else top(x[r]))
    assert "from 512 on" not in found
    assert "missing" in found


def test_logits_that_are_all_equal_by_an_order_do_not_show_it() -> None:
    logits = np.float32(1e4) + np.arange(1000, dtype=np.float32)[None] / 1024
    lost = np.delete(top(logits[0], K + 1), 3)
    assert as_it_is([Row(logits[0], lost, 0, logits)]).startswith("of the 10 largest 1 is missing")


def test_indices_that_count_from_the_first_row_are_told() -> None:
    logits = np.random.default_rng(4).normal(size=500).astype(np.float32)
    assert "first row's start" in out_of_range(logits, top(logits) + 3 * 500, 3)
    assert "1 off" in out_of_range(logits, top(logits) + 1, 0)
    assert out_of_range(logits, np.full(K, 7 << 28), 3) == ""
