"""The pictures of the architecture show the code as it is, and no arrow of theirs runs back up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tools import architecture, layers

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pictures() -> Mapping[str, str]:
    return architecture.files()


def test_the_pictures_are_those_of_the_code(pictures: Mapping[str, str]) -> None:
    stale = [name for name, text in pictures.items() if (ROOT / "docs" / name).read_text() != text]
    assert stale == [], "run: make architecture"


def test_every_picture_is_shown(pictures: Mapping[str, str]) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert [name for name in pictures if f"({name})" not in page] == []


def test_every_step_of_a_verdict_is_in_the_code() -> None:
    assert architecture.missing() == []


def test_what_stands_in_a_circle_is_not_drawn() -> None:
    below = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("a"), "d": frozenset()}
    with pytest.raises(layers.Circle, match="a, b, c"):
        layers.rows_of(below)


def test_an_arrow_that_follows_from_others_is_left_out() -> None:
    below = {"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset()}
    assert layers.reduced(below) == {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset()}
    assert layers.rows_of(below) == [["a"], ["b"], ["c"]]
