"""Notes on code that stands twice: nothing but what is around a copy tells it from its like."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from judge_tui.judging.context import parse_context, render_context
from judge_tui.judging.note import Note, new_note
from judge_tui.judging.placing import Files, Placed, place, restated
from judge_tui.judging.text_index import indexed
from judge_tui.judging.way_of_lines import Earlier
from judge_tui.tui.code.equal_lines import equal_lines


def lines(name: str, count: int) -> str:
    """So many lines that stand nowhere else."""
    return "".join(f"{name}_{n} = {n}\n" for n in range(count))


def note_on(text: str, first: int, last: int | None = None) -> Note:
    """As it is on disk."""
    span = first, last or first
    return restated(new_note("bug", "n", file="a.py", lines=span, source=text), indexed(text))


def placed(note: Note, text: str) -> Placed:
    files: Mapping[str, str] = {"a.py": text}
    return place(note, Files(["a.py"], files.get))


F = 'def f(x):\n    """Add one."""\n    one = 1\n    return x + one\n'
BLOCK = lines("block", 24)


@pytest.mark.parametrize("line", [2, 12, 23])
def test_of_two_copies_of_which_one_is_deleted_none_is_certain(line: int) -> None:
    text = "head = 1\n" + BLOCK + "between = 1\n" + BLOCK + "end = 1\n"
    note = note_on(text, 26 + line)
    assert placed(note, "head = 1\n" + BLOCK + "between = 1\nend = 1\n").standing == "doubt"


def test_of_copies_that_nothing_but_their_order_tells_apart_none_is_certain() -> None:
    text = "head = 1\n" + BLOCK + "between = 1\n" + BLOCK + "end = 1\n"
    note = note_on(text, 38)
    assert placed(note, text).standing == "there"
    assert placed(note, "head = 1\n" + BLOCK + BLOCK + "between = 1\nend = 1\n").standing == "doubt"


def test_of_two_copies_that_have_changed_their_order_none_is_certain() -> None:
    text = lines("a", 3) + F + lines("b", 3) + F + lines("c", 3)
    note = note_on(text, 12)
    assert placed(note, F + lines("a", 3) + F + lines("b", 3) + lines("c", 3)).standing == "doubt"


def test_a_copy_under_the_same_name_is_not_taken_for_lines_that_now_stand_under_another() -> None:
    text = "def f(x):\n" + "".join(f"    a{n} = x\n" for n in range(6)) + "\n\ndef g(x):\n    return 2\n"
    note = note_on(text, 6)
    # a part of it is copied into it, with the head that follows
    head, tail = text[: text.index("    a4")], text[text.index("    a4") :]
    within = head + text[text.index("    a3") :] + tail
    assert placed(note, within).standing == "doubt"


RANGE = lines("r", 16) + "return out\n"


def test_a_range_ends_where_it_did_though_a_copy_of_its_end_is_better_backed() -> None:
    behind = lines("behind", 3)
    text = "head = 1\n" + RANGE + behind + lines("more", 3)
    note = note_on(text, 2, 18)
    copied = "head = 1\n" + RANGE + "new = 1\n" + lines("r", 4) + "return out\n" + behind + lines("more", 3)
    found = placed(note, copied)
    assert found.standing == "changed"
    grown = "head = 1\n" + RANGE.replace("r_13", "new = 2\nr_13") + behind + lines("more", 3)
    assert placed(note, grown).note.lines == (2, 19)
    assert placed(note, grown).standing == "there"


def test_a_range_that_begins_in_a_copy_does_not_reach_over_the_beginning_of_the_original() -> None:
    start = lines("r", 13)
    text = (
        "own = 1\n" + start + "x = 1\n" + "own = 1\n" + start + lines("s", 4) + "return out\n" + lines("z", 9)
    )
    note = note_on(text, 17, 34)
    assert note.context is not None
    assert note.context.ends == "return out"
    found = placed(note, text.replace("x = 1\nown = 1\n", "x = 1\nown = 1 + 2\n"))
    assert found.note.lines == (17, 34) or found.standing != "there"


def test_while_it_is_open_a_note_goes_to_no_copy_around_which_less_is_the_same() -> None:
    new, show = "def new():\n    made = 1\n", "def show():\n    shown = 1\n"
    text = f'@cmd("new")\n@arg\n@opt\n{new}@cmd("show")\n@arg\n@opt\n{show}'
    # the comparison has it that the lines of one are those of the other
    moved = f'{new}@cmd("show")\n@arg\n@opt\n@cmd("new")\n@arg\n@opt\n{show}'
    note, old = note_on(text, 3), indexed(text)
    files = Files(["a.py"], {"a.py": moved}.get, lambda _, now: Earlier(old, now, equal_lines))
    assert place(note, files).standing != "there"


def test_what_tells_copies_apart_is_written_down() -> None:
    text = lines("a", 9) + F + lines("b", 9) + F + lines("c", 9)
    context = note_on(text, 24).context
    assert context is not None
    assert context.twins == (1, 3)
    twin = note_on("head = 1\n" + BLOCK + BLOCK + "end = 1\n", 38).context
    assert twin is not None
    assert twin.twins == (2, 0)
    for each in (context, twin):
        assert parse_context(render_context(each)) == each


@pytest.mark.parametrize("twins", [[], [1], [1, 1, 1], [1, -1], ["1", 1], "1", [0, 1]])
def test_what_is_none_is_no_context(twins: object) -> None:
    raw = {"equal": [1, 2, 2], "twins": twins}
    assert parse_context(raw) is None
    assert parse_context({"equal": [1, 2, 2]}) is not None
