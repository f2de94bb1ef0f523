"""A row that is cut says so, and one that is not is left as it is."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style

from judge_tui.tui.look.in_a_row import in_a_row

BASE, LOUD = Style(bgcolor="blue"), Style(color="red")


@pytest.mark.parametrize(
    ("texts", "width", "shown"),
    [
        (["ab", "cd"], 6, "abcd  "),
        (["ab", "cd"], 4, "abcd"),
        (["ab", "cd"], 3, "ab…"),
        (["ab", "  "], 3, "ab "),
        (["a漢字"], 4, "a漢…"),
        (["a漢字"], 3, "a …"),
        (["ab"], 1, "…"),
        ([], 2, "  "),
    ],
)
def test_an_ellipsis_stands_where_text_did_not_fit(texts: list[str], width: int, shown: str) -> None:
    strip = in_a_row([Segment(text, LOUD) for text in texts], width, BASE)
    assert (strip.text, strip.cell_length) == (shown, width)


def test_a_row_that_is_reversed_is_of_one_colour() -> None:
    (left, right) = in_a_row([Segment("ab", LOUD), Segment("cd", BASE + LOUD)], 4, Style(reverse=True))
    assert left.style is not None
    assert right.style is not None
    assert (left.style.color, right.style.color, right.style.bgcolor) == (None, None, None)
