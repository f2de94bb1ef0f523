from __future__ import annotations

import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from judge_tui.judging.note import is_anchored, new_note, quote_of, reanchor

SOURCE = "import numpy\n\ndef f(x):\n    return x + 1\n\ndef g(x):\n    return x + 1\n"


def test_a_note_follows_its_quote_when_lines_are_added_above() -> None:
    note = new_note("bug", "off by one", file="a.py", lines=(4, 3), source=SOURCE)
    assert note.lines == (3, 4)
    assert note.quote == "def f(x):\n    return x + 1"
    moved = reanchor(note, "# head\n# more\n" + SOURCE)
    assert moved.lines == (5, 6)
    assert (moved.id, moved.text) == (note.id, note.text)


def test_the_nearest_of_equal_quotes_is_meant() -> None:
    note = new_note("bug", "here", file="a.py", lines=(7, 7), source=SOURCE)
    assert reanchor(note, "\n" + SOURCE).lines == (8, 8)
    assert reanchor(note, SOURCE).lines == (7, 7)


def test_a_note_survives_a_change_of_indentation_and_of_line_ends() -> None:
    note = new_note("strength", "clear", file="a.py", lines=(3, 4), source=SOURCE)
    indented = "class A:\n" + "".join(f"    {line}\n" for line in SOURCE.splitlines())
    assert reanchor(note, indented.replace("\n", "\r\n")).lines == (4, 5)


def test_a_note_whose_quote_is_gone_keeps_its_lines_and_says_so() -> None:
    note = new_note("bug", "gone", file="a.py", lines=(3, 4), source=SOURCE)
    assert reanchor(note, "nothing\n") == note
    assert not is_anchored(note, "nothing\n")
    assert is_anchored(note, SOURCE)


def test_a_long_range_keeps_its_length() -> None:
    source = "\n".join(f"line {n}" for n in range(1, 101))
    note = new_note("weakness", "long", file="a.py", lines=(10, 60), source=source)
    assert len(note.quote.split("\n")) == 12
    assert reanchor(note, "\n\n" + source).lines == (12, 62)


def test_notes_without_lines_are_never_moved() -> None:
    note = new_note("question", "why?", file="a.py")
    assert reanchor(note, SOURCE) == note


@given(st.lists(st.integers(0, 99), min_size=1, max_size=12, unique=True), st.integers(0, 6), st.data())
def test_lines_pushed_down_are_found_again(names: list[int], pushed: int, data: st.DataObject) -> None:
    lines = [f"x{name} = {name}" for name in names]
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    note = new_note("bug", "t", file="a.py", lines=(first, last), source="\n".join(lines))
    after = "\n".join(["# pushed"] * pushed + lines)
    moved = reanchor(note, after)
    assert moved.lines == (first + pushed, last + pushed)
    assert quote_of(after, moved.lines) == note.quote


LINE = st.sampled_from(["", "a", "  a", "b", "return", "x" * 1_200])


@given(st.lists(LINE, min_size=1, max_size=8), st.lists(LINE, max_size=14), st.data())
def test_a_quote_is_found_where_it_is_nearest_as_a_look_at_every_line_finds_it(
    old: list[str], new: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    note = new_note("bug", "n", file="a.py", lines=(first, last), source="\n".join(old))
    source = "\n".join(new)
    there = [
        line
        for line in range(1, len(new) + 2)
        if note.quote.strip() and is_anchored(replace(note, lines=(line, line + last - first)), source)
    ]
    nearest = min(there, key=lambda line: (abs(line - first), line), default=first)
    assert reanchor(note, source).lines == (nearest, nearest + last - first)


def test_many_notes_whose_quotes_are_gone_are_looked_for_in_little_time() -> None:
    source = "".join(f"line {number}\n" for number in range(50_000))
    notes = [new_note("bug", "n", file="a.py", lines=(n, n), source="x\n" * 99) for n in range(1, 60)]
    began = time.process_time()
    assert [reanchor(note, source).lines for note in notes] == [note.lines for note in notes]
    assert time.process_time() - began < 1.0
