"""The fast reader of TOML says what the one of the standard library says."""

from __future__ import annotations

import copy
import tomllib
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.document import parse_toml, render_toml

ROOT = Path(__file__).parents[2]
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.none() | ZONES)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.booleans()
PLAIN = TEXTS | NUMBERS | st.dates() | MOMENTS
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def _ordered(value: object) -> object:
    """With the order of keys, and of what type each value is."""
    if isinstance(value, dict):
        return [(key, _ordered(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    said = value.isoformat() if isinstance(value, datetime | date | time) else value
    return type(value).__name__, repr(said)


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_what_is_written_is_read_alike_in_the_same_order(raw: dict[str, object]) -> None:
    text = render_toml(raw)
    read = parse_toml(text.encode(), Path("a.toml")).raw
    assert _ordered(read) == _ordered(tomllib.loads(text))
    assert copy.deepcopy(read) == read


@pytest.mark.parametrize("path", sorted((ROOT / "scores").rglob("*.toml")), ids=lambda path: path.parent.name)
def test_the_files_of_this_repository_are_read_alike(path: Path) -> None:
    text = path.read_text("utf-8")
    assert _ordered(parse_toml(text.encode(), path).raw) == _ordered(tomllib.loads(text))


@pytest.mark.parametrize(
    "text", ["a = 1\na = 2", "[a]\n[a]", "a = [1,\n", 'a = "\0"', "a = null", "= 1", "a"]
)
def test_what_is_malformed_is_told_by_its_line(text: str) -> None:
    with pytest.raises(WorkspaceError) as raised:
        parse_toml(text.encode(), Path("a.toml"))
    assert raised.value.line is not None


def test_deep_nesting_and_moments_anywhere_are_read() -> None:
    deep = parse_toml(
        b"a = 2026-03-01T10:00:00+01:00\nb = { c = [2026-03-01T10:00:00Z] }\n", Path("a.toml")
    ).raw
    assert copy.deepcopy(deep)["b"]["c"][0].tzinfo == timezone(timedelta(0))
    with pytest.raises(WorkspaceError):
        parse_toml(b"a = " + b"[" * 100_000, Path("a.toml"))
