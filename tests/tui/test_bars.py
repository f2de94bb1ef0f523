"""Scores as bars and levels, in lines and blocks, and in signs that every terminal has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from judge_tui.tui.look.bars import bar, level, levels, plain_characters, score_tone


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    plain_characters.cache_clear()
    yield
    plain_characters.cache_clear()


def test_a_bar_is_as_long_as_its_share_to_half_a_column() -> None:
    assert bar(0.0, 4) == "    "
    assert bar(0.5, 4) == "━━  "
    assert bar(0.6, 4) == "━━╸ "
    assert bar(1.7, 4) == "━━━━"
    assert all(len(bar(share / 100, 7)) == 7 for share in range(101))


def test_levels_rise_with_the_points_and_say_where_there_are_none() -> None:
    assert levels([0, 50, None, 100]) == "▁▅·█"
    assert [level(n / 7) for n in range(8)] == sorted(level(n / 7) for n in range(8))


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [
        ("TERM", "linux", True),
        ("TERM", "vt220", True),
        ("LANG", "de_DE.ISO-8859-1", True),
        ("LANG", "de_DE.UTF-8@euro", False),
        ("LANG", "C", False),
        ("TERM", "xterm-kitty", False),
    ],
)
def test_a_terminal_without_blocks_gets_letters(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, plain: bool
) -> None:
    monkeypatch.setenv(name, value)
    assert bar(0.5, 4) == ("==  " if plain else "━━  ")
    assert levels([5, 99]).isascii() == plain


def test_every_score_has_a_tone_that_worsens() -> None:
    tones = [score_tone(points) for points in (100, 85, 84, 70, 60, 54, 0)]
    assert tones == ["success", "success", "primary", "primary", "warning", "error", "error"]
