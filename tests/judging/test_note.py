from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from judge_tui.checks.submission import Submission
from judge_tui.judging.card import Scorecard
from judge_tui.judging.note import Note, new_note, quote_of, render_note
from judge_tui.judging.placing import Files, Placed, place, placed_notes, restated, settled
from judge_tui.judging.scorecard import parse_scorecard, render_scorecard
from judge_tui.judging.text_index import indexed

SOURCE = "import numpy\n\ndef f(x):\n    return x + 1\n\ndef g(x):\n    return x + 1\n"
SIX = "".join(f"def f{n}(x):\n    out = x * {n}\n    return out\n\n\n" for n in range(1, 7))
F4 = "def f4(x):\n    out = x * 4\n    return out\n\n\n"


def note_on(lines: tuple[int, int], source: str = SOURCE, file: str = "a.py") -> Note:
    """As it is on disk: with what stands around it."""
    return restated(new_note("bug", "n", file=file, lines=lines, source=source), indexed(source))


def of_note(note: Note) -> Scorecard:
    return Scorecard("kv", "alpha", "anna", notes=(note,))


def placed(note: Note, source: str | Mapping[str, str]) -> Placed:
    files = {"a.py": source} if isinstance(source, str) else source
    return place(note, Files(sorted(files), files.get))


def there(note: Note, source: str | Mapping[str, str]) -> tuple[str | None, tuple[int, int] | None]:
    found = placed(note, source)
    assert found.standing == "there"
    return found.note.file, found.note.lines


def test_a_note_follows_its_quote_when_lines_are_added_above() -> None:
    note = new_note("bug", "off by one", file="a.py", lines=(4, 3), source=SOURCE)
    assert note.lines == (3, 4)
    assert note.quote == "def f(x):\n    return x + 1"
    note = restated(note, indexed(SOURCE))
    moved = placed(note, "# head\n# more\n" + SOURCE).note
    assert moved.lines == (5, 6)
    assert (moved.id, moved.text) == (note.id, note.text)


def test_of_equal_lines_the_one_in_its_own_function_is_meant() -> None:
    note = note_on((18, 18), SIX)
    assert there(note, "# 1\n# 2\n# 3\n# 4\n" + SIX) == ("a.py", (22, 22))
    assert there(note, SIX.replace("x *", "x  *")) == ("a.py", (18, 18))
    assert there(note, SIX.replace("def f1(x):\n    out = x * 1\n    return out\n\n\n", "")) == (
        "a.py",
        (13, 13),
    )
    moved = SIX.replace(F4, "") + F4
    assert there(note, moved) == ("a.py", (28, 28))


def test_a_note_whose_function_is_gone_goes_to_no_other_one() -> None:
    found = placed(note_on((18, 18), SIX), SIX.replace(F4, ""))
    assert found.standing == "doubt"
    assert found.where.endswith("place in doubt")
    assert {spot.lines[0] for spot in found.spots} == {3, 8, 13, 18, 23}


def test_a_definition_that_takes_the_name_of_the_notes_is_not_its_own() -> None:
    old = "def {}(x):\n    a = 1\n    b = 2\n    y = x\n    return clean(y)\n"
    new = "def new(x):\n    a = 1\n    b = 2\n    y = x + a * b\n    return clean(y)\n\n\nend = 1\n"
    note = note_on((12, 12), f"{old.format('old')}\n\n{new}")
    assert there(note, f"{old.format('old')}\n\n{new}") == ("a.py", (12, 12))
    assert there(note, f"# gone\n\n{new}") == ("a.py", (7, 7))
    assert placed(note, f"import numpy\n\n\n{old.format('new')}").standing != "there"


def test_of_blocks_that_are_the_same_all_around_the_judge_is_asked() -> None:
    block = "x = 1\ny = 2\n\n"
    note = note_on((4, 4), block * 5)
    assert there(note, block * 5) == ("a.py", (4, 4))
    found = placed(note, block * 4)
    assert found.standing == "doubt"
    assert [spot.lines[0] for spot in found.spots] == [1, 4, 7, 10]


def test_a_note_survives_a_change_of_indentation_of_line_ends_and_of_wrapping() -> None:
    note = note_on((3, 4))
    indented = "class A:\n" + "".join(f"    {line}\n" for line in SOURCE.splitlines())
    assert there(note, indented.replace("\n", "\r\n")) == ("a.py", (4, 5))
    call = "import a\n\nresult = combine(first, second)\nprint(result)\n"
    wrapped = call.replace("(first, second)", "(\n    first, second\n)")
    assert there(note_on((3, 3), call), wrapped) == ("a.py", (3, 5))


def test_a_note_whose_quote_is_gone_says_so() -> None:
    found = placed(note_on((3, 4)), "nothing\n")
    assert found.standing == "gone"
    assert found.where.endswith("no longer there")


def test_a_note_whose_line_says_something_else_now_stays_by_it_and_says_so() -> None:
    now = "# one\n" + SIX.replace("out = x * 4", "out = x * 44")
    found = placed(note_on((17, 17), SIX), now)
    assert (found.standing, found.note.lines) == ("changed", (18, 18))


def test_a_long_range_keeps_its_length_or_grows_with_what_is_in_it() -> None:
    lines = [f"line {n}" for n in range(1, 101)]
    note = note_on((10, 60), "\n".join(lines))
    assert len(note.quote.split("\n")) == 12
    assert there(note, "\n\n" + "\n".join(lines)) == ("a.py", (12, 62))
    grown = [*lines[:40], "more", "and more", *lines[40:]]
    assert there(note, "\n".join(grown)) == ("a.py", (10, 62))


@pytest.mark.parametrize("line", [4, 5])
def test_of_blank_lines_that_stand_together_the_same_one_is_meant(line: int) -> None:
    note = note_on((line, line), SIX)
    assert there(note, "# 1\n# 2\n" + SIX) == ("a.py", (line + 2, line + 2))
    assert there(
        parse_scorecard(render_scorecard(of_note(note)).encode(), Path("a.toml")).notes[0], SIX + F4
    ) == (
        "a.py",
        (line, line),
    )


def test_what_is_left_of_two_definitions_that_became_one_is_not_taken_for_what_is_gone() -> None:
    head = (
        'def f{0}(x):\n    """Doc {0}."""\n{1}    try:\n        yield\n    except E:\n        drop({0})\n\n\n'
    )
    first, second = head.format(1, ""), head.format(2, "    y = g(x)\n")
    note = note_on((4, 4), first + second)
    assert there(note, "# 1\n" + first + second) == ("a.py", (5, 5))
    merged = first.splitlines(keepends=True)[:2] + second.splitlines(keepends=True)[2:]
    assert placed(note, "".join(merged)).standing == "doubt"


def test_of_more_blank_lines_than_there_were_any_may_be_the_one() -> None:
    note = note_on((5, 5), SIX)
    found = placed(note, SIX.replace("* 1\n    return out\n", "* 1\n    return out\n\n"))
    assert (found.standing, [spot.lines for spot in found.spots]) == ("doubt", [(4, 4), (5, 5), (6, 6)])
    # as a card says it that was written before blank lines were told apart
    assert note.context is not None
    old = replace(note, context=replace(note.context, equal=(1, 1, 1)))
    found = placed(old, "# 1\n" + SIX)
    assert (found.standing, [spot.lines for spot in found.spots]) == ("doubt", [(5, 5), (6, 6)])
    assert there(old, SIX.replace("* 1\n    return out\n\n", "* 1\n    return out\n")) == ("a.py", (4, 4))


def test_blank_lines_elsewhere_that_have_more_of_one_side_are_rivals() -> None:
    source = "a = 1\nb = 2\nend()\n\nc = 3\nd = 4\ne = 5\n"
    note = note_on((4, 4), source)
    assert (
        placed(note, "a = 1\nb = 2\nend()\n\nx = 1\nz = 2\nend()\n\nc = 3\nd = 4\ne = 5\n").standing
        == "doubt"
    )


def test_notes_without_lines_are_never_moved() -> None:
    note = new_note("question", "why?", file="a.py")
    assert placed(note, SOURCE).note == note


def test_a_note_follows_its_file_to_another_name_and_leaves_the_new_file_of_the_old_one() -> None:
    note = note_on((18, 18), SIX)
    assert there(note, {"b.py": SIX}) == ("b.py", (18, 18))
    assert there(note, {"b.py": "# edited\n" + SIX, "c.py": SOURCE}) == ("b.py", (19, 19))
    other = "def g(x):\n    out = x\n    return out\n"
    assert there(note, {"a.py": other, "b.py": SIX}) == ("b.py", (18, 18))
    assert there(note, {"a.py": SIX, "a_old.py": SIX}) == ("a.py", (18, 18))
    whole = restated(new_note("bug", "n", file="a.py"), indexed(SIX))
    assert place(whole, Files(["b.py"], {"b.py": SIX}.get)).note.file == "b.py"


def test_a_note_that_stands_in_two_files_for_all_that_is_known_is_asked_about() -> None:
    note = note_on((18, 18), SIX)
    found = placed(note, {"b.py": SIX, "c.py": SIX})
    assert found.standing == "doubt"
    assert {spot.file for spot in found.spots} == {"b.py", "c.py"}


def test_a_note_of_a_file_that_is_gone_says_so() -> None:
    assert placed(note_on((3, 4)), {}).standing == "gone"
    assert placed(replace(note_on((3, 4)), context=None), {"z.py": SOURCE}).standing == "gone"


@pytest.mark.parametrize("sure", [True, False])
def test_a_note_of_an_old_card_stands_where_it_says_only_on_the_files_that_were_judged(sure: bool) -> None:
    note = new_note("bug", "n", file="a.py", lines=(18, 18), source=SIX)
    found = place(note, Files(["a.py"], {"a.py": SIX}.get), sure=sure)
    assert (found.standing, found.note.lines) == ("there" if sure else "doubt", (18, 18))
    alone = new_note("bug", "n", file="a.py", lines=(16, 17), source=SIX)
    assert there(alone, "#\n" + SIX) == ("a.py", (17, 18))
    short = new_note("bug", "n", file="a.py", lines=(17, 17), source=SIX)
    assert placed(short, "#\n" + SIX).standing == "doubt", "too little is said for a proof"


@given(st.lists(st.integers(0, 99), min_size=1, max_size=12, unique=True), st.integers(0, 6), st.data())
def test_lines_pushed_down_are_found_again(names: list[int], pushed: int, data: st.DataObject) -> None:
    lines = [f"x{name} = {name}" for name in names]
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    note = note_on((first, last), "\n".join(lines))
    after = "\n".join(["# pushed"] * pushed + lines)
    assert there(note, after) == ("a.py", (first + pushed, last + pushed))
    assert quote_of(after, (first + pushed, last + pushed)) == note.quote


LINE = st.sampled_from(["", "a", "  a", "b", "return", "x" * 1_200])


@given(st.lists(LINE, min_size=1, max_size=8), st.lists(LINE, max_size=14), st.data())
def test_what_is_certain_says_what_is_quoted_and_nothing_raises(
    old: list[str], new: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    before = "".join(f"{line}\n" for line in old)
    note = note_on((first, last), before)
    assert there(note, before) == ("a.py", (first, last))
    found = placed(note, "\n".join(new))
    if found.standing == "there":
        assert found.note.lines is not None
        said = "".join("".join(line.split()) for line in new[found.note.lines[0] - 1 : found.note.lines[1]])
        assert said == "".join("".join(line.split()) for line in old[first - 1 : last])


def test_many_notes_whose_quotes_are_gone_are_looked_for_in_little_time() -> None:
    source = "".join(f"line {number}\n" for number in range(50_000))
    notes = [note_on((n, n), "".join(f"{m} x\n" for m in range(99))) for n in range(1, 60)]
    indexed(source)
    began = time.process_time()
    assert [placed(note, source).standing for note in notes] == ["gone"] * len(notes)
    assert time.process_time() - began < 2.0


def test_what_stands_around_a_note_is_kept_in_its_card_and_strange_contexts_stay_as_they_are(
    tmp_path: Path,
) -> None:
    note = note_on((18, 18), SIX)
    card = Scorecard("kv", "m", "anna", notes=(note, new_note("bug", "whole")))
    text = render_scorecard(card)
    assert '[notes.context]\nwithin = "f4"\n' in text
    assert parse_scorecard(text.encode(), tmp_path / "a.toml").notes == card.notes
    head = 'task = "kv"\nmodel = "m"\njudge = "a"\n[[notes]]\nkind = "bug"\ntext = "t"\n'
    newer = text.replace('within = "f4"\n', 'within = "f4"\nlater = 1\n')
    [read, _] = parse_scorecard(newer.encode(), tmp_path / "a.toml").notes
    moved = restated(replace(read, lines=(19, 19)), indexed("#\n" + SIX))
    assert render_note(moved)["context"]["later"] == 1, "what a later version writes stays"
    for strange in ("[1]", '"far"', "{ before = 3 }", "{ equal = [0, 1, 1] }", "{ equal = [9, 1, 1] }"):
        [read] = parse_scorecard(f"{head}context = {strange}\n".encode(), tmp_path / "a.toml").notes
        assert read.context is None
        assert render_note(read)["context"] == read.extra["context"]


def test_the_board_says_of_a_file_that_is_gone_that_it_is_no_longer_there(tmp_path: Path) -> None:
    submission = Submission.at(tmp_path / "m" / "kv")
    card = Scorecard("kv", "m", "anna", notes=(note_on((18, 18), SIX),))
    [found] = placed_notes(card, submission).values()
    assert found.where == "a.py:18, no longer there"


def test_a_card_in_doubt_is_not_taken_for_one_of_the_present_files_by_being_saved(tmp_path: Path) -> None:
    folder = tmp_path / "m" / "kv"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("# 1\n" * 5 + SIX)
    submission = Submission.at(folder)
    old = new_note("bug", "n", file="a.py", lines=(18, 18), source=SIX)
    before = Scorecard("kv", "m", "anna", notes=(old,), submission="sha256:others")
    added = new_note("bug", "m", file="a.py", lines=(23, 23), source=submission.read_text("a.py"))
    saved = settled(before.with_note(added), submission, before)
    saved = replace(saved, submission=submission.digest)
    places = placed_notes(saved, submission)
    assert places[old.id].standing == "doubt"
    assert (places[added.id].standing, places[added.id].note.lines) == ("there", (23, 23))
