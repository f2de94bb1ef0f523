"""How what a program printed is held against the answer."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.challenges.programs.comparing import Difference, comparison

TOKENS = st.lists(st.text("ab.019-", min_size=1, max_size=4), max_size=8)
BLANKS = st.text(" \t\r\n\f\v", min_size=1, max_size=3)
TEXTS = st.binary(max_size=40)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def right(told: str, expected: str | bytes, got: str | bytes) -> bool:
    texts = [text.encode() if isinstance(text, str) else text for text in (expected, got)]
    return comparison(told)(*texts) is None


@given(TEXTS)
@pytest.mark.parametrize(
    "told", ["tokens", "exact", "lines", "float 1e-6", "float relative 0.1 any-case spaces"]
)
def test_an_answer_is_equal_to_itself(told: str, text: bytes) -> None:
    assert right(told, text, text)


@given(TOKENS, st.data())
def test_tokens_are_what_stands_between_blanks(tokens: list[str], data: st.DataObject) -> None:
    got = "".join(data.draw(BLANKS) + token for token in tokens) + data.draw(st.just("") | BLANKS)
    assert right("tokens", " ".join(tokens), got)
    assert right("float 1e-6", " ".join(tokens), got)


@given(TOKENS, TOKENS)
def test_other_tokens_are_another_answer(ours: list[str], theirs: list[str]) -> None:
    assert right("tokens", "\n".join(ours), " ".join(theirs)) == (ours == theirs)


@given(TEXTS, TEXTS)
def test_exact_is_byte_by_byte_and_the_difference_is_the_first(one: bytes, other: bytes) -> None:
    found = comparison("exact")(one, other)
    assert (found is None) == (one == other)
    if found is not None:
        same = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
        first = min(len(one), len(other)) if same is None else same
        line, column = other.count(b"\n", 0, first) + 1, first - other.rfind(b"\n", 0, first)
        assert found.place == f"line {line}, byte {column}"


@given(st.lists(st.text("ab ", max_size=4).map(str.rstrip), max_size=5), st.data())
def test_lines_do_not_count_blanks_at_their_ends_nor_the_last_newline(
    lines: list[str], data: st.DataObject
) -> None:
    ends = [data.draw(st.sampled_from(["\n", "\r\n", " \t\n"])) for _ in lines]
    got = "".join(map("".join, zip(lines, ends, strict=True)))
    assert right("lines", "".join(f"{line}\n" for line in lines), got)


@given(FINITE, FINITE, st.sampled_from([1e-9, 1e-3, 0.5]))
def test_a_number_is_right_that_is_near_by_either_measure(one: float, other: float, most: float) -> None:
    error = abs(one - other)
    near = error <= most or error <= most * abs(one)
    assert right(f"float {most}", repr(one), repr(other)) == near
    assert right(f"float relative {most}", repr(one), repr(other)) == (
        one == other or error <= most * abs(one)
    )
    assert right(f"float absolute {most}", repr(one), repr(other)) == (error <= most)


@given(st.integers(min_value=-(10**400), max_value=10**400), st.integers(-5, 5))
def test_numbers_may_be_larger_than_a_float(number: int, off: int) -> None:
    assert right("float 1e-6", str(number), str(number + off)) == (
        abs(off) <= abs(number) * Fraction(1e-6) or not off
    )


@pytest.mark.parametrize(
    ("told", "expected", "got", "is_right"),
    [
        ("tokens", "1", "1.0", False),
        ("tokens", "yes", "Yes", False),
        ("tokens any-case", "yes", "YES", True),
        ("tokens spaces", "a b", "a  b", False),
        ("float 1e-6", "1", "1.0", True),
        ("float 1e-6", "1", "1e0", True),
        ("float 1e-6", "0.5", ".5", True),
        ("float 1e-6", "1.0000001", "1", True),
        ("float 1e-6", "1000000", "1000001", True),
        ("float 1e-6", "0", "0.00001", False),
        ("float 1e-6", "1_0", "10", False),
        ("float 1e-6", "0x10", "16", False),
        ("float 1e-6", "a1", "a1.0", False),
        ("float 1e-6", "nan", "NaN", True),
        ("float 1e-6", "nan", "-nan", True),
        ("float 1e-6", "nan", "0", False),
        ("float 1e-6", "0", "nan", False),
        ("float 1e-6", "inf", "Infinity", True),
        ("float 1e-6", "inf", "-inf", False),
        ("float 1e-6", "inf", "1e308", False),
        ("float 1e-6", "1e400", "inf", False),
        ("float 1e-6", "1e400", "1.0000000001e400", True),
        ("float 1e-6", "1e400", "2e400", False),
        ("float 0", "1", "1.0", True),
        ("float 1e-6", "Yes", "yes", False),
        ("float 1e-6 any-case", "Yes", "yes", True),
        ("lines", "a\nb\n", "a\nb", True),
        ("lines", "a\nb\n", "a\nb\n\n", False),
        ("lines", "a\n", " a\n", False),
        ("lines", "a b\n", "a  b\n", False),
        ("lines", "", "\n", True),
        ("exact", "a\n", "a", False),
    ],
)
def test_a_mode_tells_answers_apart(told: str, expected: str, got: str, is_right: bool) -> None:
    assert right(told, expected, got) is is_right


@pytest.mark.parametrize(
    ("told", "expected", "got", "said"),
    [
        ("tokens", "1 2\n3 4", "1 2\n3 5", "line 2, token 2: '5' instead of '4'"),
        ("tokens", "1 2", "1", "line 1, at the end: nothing instead of '2'"),
        ("tokens", "1", "1\n2", "line 2, token 1: '2' where nothing must come any more"),
        ("tokens", "a", "\x1b[31m", "line 1, token 1: '\\x1b[31m' instead of 'a'"),
        ("tokens", "a", "x" * 100, f"line 1, token 1: '{'x' * 60}…' instead of 'a'"),
        ("lines", "a\nb", "a", "line 2: nothing instead of 'b'"),
        ("lines", "a\nb", "a\nc d", "line 2: 'c d' instead of 'b'"),
        ("exact", "ab\ncd", "ab\nce", "line 2, byte 2: 'e' instead of 'd'"),
    ],
)
def test_the_first_difference_is_told(told: str, expected: str, got: str, said: str) -> None:
    found = comparison(told)(expected.encode(), got.encode())
    assert isinstance(found, Difference)
    assert found.told() == said


@pytest.mark.parametrize(
    "told",
    ["", "fuzzy", "exact 1", "lines any-case", "tokens 3", "float", "float x", "float -1", "float nan",
     "float inf", "float 1 2", "float absolute", "float near 1"],
)  # fmt: skip
def test_what_is_no_comparison_is_refused_in_one_clause(told: str) -> None:
    with pytest.raises(ValueError, match="is no comparison: ") as raised:
        comparison(told)
    assert "\n" not in str(raised.value)


def test_a_tolerance_of_zero_takes_equal_numbers_alone() -> None:
    assert right("float 0", "1.5", "1.50")
    assert not right("float 0", "1.5", repr(math.nextafter(1.5, 2)))
