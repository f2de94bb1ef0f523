from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from judge_tui.tui.code.search import Hit, compile_pattern, find, narrowed
from judge_tui.tui.code.source import CHUNK, Source
from judge_tui.tui.look.glyphs import glyph_of, neutral
from judge_tui.tui.widgets.code_lines import Look, gutter_width, line_strip

PLAIN = Style()
LOOK = Look(PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, {}, ())

HOSTILE = st.text(
    st.one_of(
        st.sampled_from(
            "\t\r\x00\x1b\x07\x7f\x85\u202e\u2066\u200d\ufe0f\u0301\u0336漢字🇩🇪👍🏽ab \u3164\u2028\udcff"
        ),
        st.characters(codec="utf-8"),
    ),
    max_size=200,
)


def shown(data: bytes) -> list[str]:
    source = Source(data)
    return [source.display(number) for number in range(len(source))]


def harmless(text: str) -> bool:
    """No control, no escape, no bidirectional control, nothing invisible."""
    return all(ch == " " or (ch.isprintable() and not 0xFE00 <= ord(ch) <= 0xFE0F) for ch in text)


def test_escape_sequences_are_shown_as_symbols() -> None:
    assert shown(b"\x1b]52;c;x\x07\x00\x7f") == ["␛]52;c;x␇␀␡"]


def test_crlf_is_a_line_end_and_so_is_a_lone_carriage_return() -> None:
    source = Source(b"a\r\nb\rc\r\n")
    assert source.lines == ["a", "b", "c"]
    assert source.crlf
    assert source.lone_cr
    assert not Source(b"a\r\n").lone_cr


def test_bidirectional_controls_and_bytes_that_are_no_utf8_are_spelled() -> None:
    assert shown("x\u202ey".encode() + b"\xff") == ["x⟦U+202E⟧y⟦xFF⟧"]


def test_tabs_reach_the_next_stop_after_wide_characters() -> None:
    source = Source("漢\tx\ta".encode())
    assert source.display(0) == "漢  x   a"
    assert [source.cell_of(0, n) for n in range(6)] == [0, 2, 4, 5, 8, 9]


def test_marks_stack_three_high_and_are_spelled_beyond() -> None:
    source = Source(("e" + "\u0301" * 5).encode())
    assert source.display(0) == "e\u0301\u0301\u0301⟦U+0301⟧⟦U+0301⟧"


def test_an_empty_file_has_one_empty_line() -> None:
    assert Source(b"").lines == [""]
    assert Source(b"\n").lines == [""]


@given(HOSTILE)
def test_nothing_harmful_is_shown_and_widths_are_true(text: str) -> None:
    source = Source(text.encode("utf-8", "surrogateescape"))
    for number in range(len(source)):
        display = source.display(number)
        assert harmless(display)
        assert (
            cell_len(display)
            == source.line_width(number)
            == source.cell_of(number, len(source.lines[number]))
        )


@given(HOSTILE, st.integers(0, 60), st.integers(1, 40))
def test_a_drawn_line_is_exactly_as_wide_as_the_view(text: str, left: int, room: int) -> None:
    source = Source(text.encode("utf-8", "surrogateescape"))
    width = gutter_width(len(source)) + room
    for number in range(len(source)):
        strip = line_strip(source, number, left=left, width=width, look=LOOK)
        assert strip.cell_length == width
        assert cell_len(strip.text) == width
        assert harmless(strip.text)


@given(
    st.lists(st.sampled_from(["a", "\t", "漢", "\x1b", "e\u0301", "\u202e"]), min_size=1, max_size=60),
    st.integers(0, 200),
)
def test_a_window_of_a_giant_line_shows_what_the_whole_line_shows(parts: list[str], x: int) -> None:
    text = "".join(parts)
    source = Source((text * (3 * CHUNK // len(text) + 1)).encode())
    while not source.measure(1.0):
        pass
    whole = source.display(0)
    at = CHUNK + x
    window = source.window(0, at, 40)
    flat = "".join(window.glyphs)
    assert flat in whole
    assert cell_len(flat) == window.cells


def test_ten_megabytes_in_one_line_are_laid_out_piece_by_piece() -> None:
    source = Source(b"ab\t\x1b" * 2_500_000, budget_s=0.0)
    assert not source.measured
    assert "".join(source.window(0, 0, 12).glyphs) == "ab  ␛ab ␛ab "
    assert len(source._chunks) < 100


def test_a_hundred_thousand_lines_are_counted_and_searched() -> None:
    source = Source(b"some line of code\n" * 100_000)
    assert len(source) == 100_000
    pattern = compile_pattern("LINE of", regex=False)
    assert pattern is None or find(source, pattern) == []
    pattern = compile_pattern("line of", regex=False)
    assert pattern is not None
    hits = find(source, pattern)
    assert hits[:1] == [Hit(0, 5, 12)]
    assert len(hits) == 20_000


@given(st.text("abAB kK\u212aß\n", max_size=60), st.text("abAkK\u212a", min_size=1, max_size=3))
def test_plain_text_is_found_where_a_regular_expression_finds_it(text: str, query: str) -> None:
    pattern = compile_pattern(query, regex=False)
    assert pattern is not None
    spans = [match.span() for match in pattern.compiled.finditer(text)]
    assert list(pattern.spans(text, 0, len(text), 1.0)) == spans


@given(
    st.text(alphabet="abA ſK\n", max_size=60),
    st.text(alphabet="abA s", min_size=1, max_size=4),
    st.integers(1, 4),
)
def test_a_query_that_grows_is_found_among_its_matches(text: str, query: str, known: int) -> None:
    source = Source(text.encode())
    before, pattern = (compile_pattern(part, regex=False) for part in (query[:known], query))
    assert before is not None
    assert pattern is not None
    found = narrowed(source, pattern, before, find(source, before))
    assert found is None or found == find(source, pattern)


def test_most_queries_that_grow_need_no_second_search() -> None:
    source = Source(b"def step_1(x)\ndef step_2(x)\n")
    before, pattern = (compile_pattern(part, regex=False) for part in ("def step", "def step_2"))
    assert before is not None
    assert pattern is not None
    assert narrowed(source, pattern, before, find(source, before)) == [Hit(1, 0, 10)]


def test_a_regular_expression_counts_each_line_by_itself() -> None:
    source = Source(b"def a():\n    x = 1\ndef b():\n")
    pattern = compile_pattern(r"^def \w+", regex=True)
    assert pattern is not None
    assert find(source, pattern) == [Hit(0, 0, 5), Hit(2, 0, 5)]


def test_an_expression_that_never_comes_to_an_end_is_given_up_and_holds_nobody_up() -> None:
    source = Source(b"x = " + b"a" * 200 + b"!\n" + b"b\n" * 10)
    pattern = compile_pattern(r"(a|aa)+$", regex=True)
    assert pattern is not None
    ticks, done = [0], threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(TimeoutError):
            find(source, pattern, seconds=0.2)
    finally:
        done.set()
        thread.join()
    # one that held the interpreter's lock would let the other thread in once, at its end
    assert ticks[0] > 5


def test_a_search_that_nobody_waits_for_stops() -> None:
    source = Source(b"some line of code\n" * 100_000)
    pattern = compile_pattern("line", regex=False)
    assert pattern is not None
    assert find(source, pattern, lambda: False) == []


@pytest.mark.parametrize("query", ["(", "(?:(?:x{1000}){1000}){1000}", "a{99999999999}", "(?:" * 5000 + "a"])
def test_an_expression_that_cannot_be_meant_is_told(query: str) -> None:
    with pytest.raises(re.error):
        compile_pattern(query, regex=True)


@given(HOSTILE)
def test_neutral_text_harms_nobody(text: str) -> None:
    assert harmless(neutral(text))
    assert harmless(neutral(text, keep_newlines=True).replace("\n", " "))


@given(st.characters())
def test_every_glyph_is_as_wide_as_it_says(character: str) -> None:
    glyph, width, _ = glyph_of(character)
    assert cell_len(glyph) == width


def test_the_cursors_line_is_of_one_colour_where_it_is_reversed() -> None:
    loud = Style(color="red")
    look = Look(PLAIN, loud, Style(reverse=True), loud, PLAIN, loud, loud, loud, {}, ())
    source = Source(b"def attend(query):\n")
    here = line_strip(source, 0, left=0, width=40, look=look, cursor=True)
    assert {segment.style.color if segment.style else None for segment in here} == {None}
    there = line_strip(source, 0, left=0, width=40, look=look)
    assert len({str(segment.style and segment.style.color) for segment in there}) == 2
