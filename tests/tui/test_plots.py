"""Curves as text, with axes that say what they are and where their values stand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.verdict import Curve
from judge_tui.tui.look.axes import Axis, short
from judge_tui.tui.look.bars import plain_characters
from judge_tui.tui.look.plots import plot

BYTES = Curve("tokens", "bytes", tuple((2.0**n, 4096.0 * 2**n) for n in range(1, 14)), log_x=True, log_y=True)


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TERM", "xterm-256color")
    plain_characters.cache_clear()
    yield
    plain_characters.cache_clear()


def test_a_point_without_a_finite_value_is_left_out_and_counted() -> None:
    # as a curve comes back from JSON, which has no infinity
    curve = Curve("step", "loss", ((1.0, 2.0), (2.0, None), (3.0, float("inf")), (4.0, 8.0)))
    drawn = plot(curve)
    assert drawn[0].strip() == "loss"
    assert drawn[-1].strip() == "2 points are not finite, or not positive on a logarithmic scale"
    assert plot(Curve("step", "loss", ((1.0, None),))) == ["no finite point to draw"]


def test_axes_say_what_they_are_and_have_round_values() -> None:
    drawn = plot(BYTES, 48, 9)
    assert drawn[0].strip() == "bytes (logarithmic)"
    assert drawn[-1].strip() == "tokens (logarithmic)"
    assert drawn[-2].split() == ["10", "100", "1", "k"]
    labels = [line.partition("┤")[0].strip() for line in drawn if "┤" in line]
    assert labels == ["10 M", "1 M", "100 k", "10 k"][: len(labels)]
    # a value stands below its place on the axis
    axis, values = drawn[-3], drawn[-2]
    assert axis.index("┬") in range(values.index("10") - 1, values.index("10") + 2)


def test_a_logarithmic_axis_of_a_decade_tells_what_lies_between() -> None:
    assert Axis(11.0, 99.0, log=True).ticks(8) == (20.0, 50.0)
    assert Axis(360.0, 3180.0, log=True).ticks(8) == (500.0, 1000.0, 2000.0)
    assert Axis(1.0, 1e6, log=True).ticks(4) == (1.0, 100.0, 10_000.0, 1e6)


def test_a_terminal_without_dots_gets_stars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    plain_characters.cache_clear()
    drawn = plot(BYTES, 40, 8)
    assert all(line.isascii() for line in drawn)
    assert sum(line.count("*") for line in drawn) >= 35


def test_the_place_of_a_picture_is_left_free() -> None:
    free, drawn = plot(BYTES, 40, 8, drawn=False), plot(BYTES, 40, 8)
    assert [len(line) for line in free] == [len(line) for line in drawn]
    assert not any("\u2801" <= sign <= "\u28ff" for line in free for sign in line)


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.25, "0.25"), (1e-7, "1e-07"), (12_000, "12 k"), (3.5e9, "3.5 G"), (-2e6, "-2 M"), (0, "0")],
)
def test_values_are_short(value: float, told: str) -> None:
    assert short(value) == told


@given(
    st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=8),
    st.booleans(),
    st.integers(1, 9),
    st.integers(8, 90),
)
def test_values_stand_within_their_axis(values: list[float], log: bool, most: int, width: int) -> None:
    axis = Axis.over(values, log=log)
    ticks = axis.ticks(most)
    assert 1 <= len(ticks) <= max(most, 2)
    assert all(-1e-6 <= axis.at(tick) <= 1 + 1e-6 for tick in ticks)
    curve = Curve("x", "y", tuple((float(n + 1), value) for n, value in enumerate(values)), log_y=log)
    lines = plot(curve, width, 6)
    assert max(map(len, lines)) <= max(width + 12, 24)
