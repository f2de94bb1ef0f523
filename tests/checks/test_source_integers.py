"""Products of two integers of a source are sizes about which it may part, and take few places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.sizes import Sizes
from judge_tui.checks.source_integers import Integer, integers, products
from judge_tui.checks.submission import Submission

COUNTED = """
class Rows:
    TILE = 24
    KEPT = 11

    def run(self, x):
        tiles = -(-x.shape[-1] // self.TILE)
        return one(x) if tiles <= self.KEPT else other(x)
"""


def submission(folder: Path, text: str, name: str = "a.py") -> Submission:
    place = folder / "someone" / "task"
    place.mkdir(parents=True)
    (place / name).write_text(text)
    return Submission.at(place)


def values(folder: Path, text: str, name: str = "a.py") -> list[int]:
    return [one.value for one in products(submission(folder, text, name))]


def test_tiles_that_are_counted(tmp_path: Path) -> None:
    [one] = products(submission(tmp_path, COUNTED))
    assert (one.value, one.factors, one.named) == (264, (11, 24), "264 = 11 · 24")
    assert 264 not in {each.value for each in integers(submission(tmp_path / "other", COUNTED))}


def test_tiles_that_are_counted_in_cuda(tmp_path: Path) -> None:
    text = "constexpr int TILE = 24;\nvoid run(int V) {\n  if ((V + TILE - 1) / TILE > 11) f();\n}\n"
    assert values(tmp_path, text, "a.cu") == [264]


def test_what_the_source_multiplies_comes_first(tmp_path: Path) -> None:
    text = "A, B, C = 20, 30, 40\nstep = A * C\nif x < A or x < B or x // C: pass\n"
    assert values(tmp_path, text) == [800, 600, 1200]


@pytest.mark.parametrize(
    "text",
    [
        # neither cuts an axis or is compared with
        "A, B = 20, 30\nrun(A, B)\n",
        # both are compared with, neither has a name
        "if x < 20 or x < 30: pass\n",
        # the product stands there itself
        "A, B, C = 20, 30, 600\nif x < A or x < B or x < C: pass\n",
        # a size that is drawn anyway
        "A, B = 4, 6\nif x < A or x // B: pass\n",
        # no size of an axis
        "A, B = 2000, 3000\nif x < A or x // B: pass\n",
    ],
)
def test_what_is_no_product(tmp_path: Path, text: str) -> None:
    assert values(tmp_path, text) == []


def test_products_are_few_and_thousands_of_integers_take_no_time(tmp_path: Path) -> None:
    text = "".join(f"N{n} = {n % 500}\nif x < N{n}: pass\n" for n in range(3000))
    assert len(values(tmp_path, text)) <= 3


AXES = {"D": (2, 500), "T": (1, 500), "B": (1, 90)}


def sizes_about(found: list[Integer], of: list[Integer], most: int) -> list[dict[str, int]]:
    sizes = Sizes(np.random.default_rng(0))
    return [dict(one.at) for one in sizes.about(found, AXES, most, products=of)]


def test_products_take_the_last_places_of_as_many_sizes() -> None:
    plain = [Integer(value, "a.py", 1, 1) for value in range(100, 120)]
    two = [Integer(264, "a.py", 2, 2, (11, 24)), Integer(300, "a.py", 2, 2, (10, 30))]
    without, found = sizes_about(plain, [], 12), sizes_about(plain, two, 12)
    assert found == [*without[:9], {"D": 265}, {"T": 265}, {"D": 301}]
    assert sizes_about(plain, two, 4)[-1] == {"D": 265}
    assert sizes_about([], two, 12) == found[9:]
    assert sizes_about(plain, two, 3) == without[:3]


def test_a_product_tells_what_it_is_of() -> None:
    two = [Integer(264, "a.py", 2, 2, (11, 24))]
    [one, *_] = Sizes(np.random.default_rng(0)).about([], AXES, 4, products=two)
    assert str(one) == "D about 264 = 11 · 24, of which a.py:2 has one"
