"""Texts that are edited: nothing of them reaches the terminal raw, and every character is kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Offset
from textual.widget import Widget

from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.look.written import HIDDEN, written
from judge_tui.tui.screens.criterion_editor import CriterionEditor
from judge_tui.tui.screens.line_prompt import LinePrompt
from judge_tui.tui.screens.matchup import MatchupScreen
from judge_tui.tui.screens.note_editor import NoteEditor
from judge_tui.tui.screens.picker import Picker
from judge_tui.tui.screens.text_editor import TextEditor
from judge_tui.tui.textual_private.pasting import plain
from judge_tui.tui.textual_private.prose_area import ProseArea
from judge_tui.tui.widgets.line_input import LineInput

from .conftest import Driver, make_app, running
from .test_hostile import PIECES, harmless

EVIL = "\x1b]52;c;UFdORUQ=\x07\x1b[2J\x9b31m\u202eevil\u2066\u2028x\u200by\x7f"
SHOWN = "␛]52;c;UFdORUQ=␇␛[2J␦31m␦evil␦␦x␦y␡"
#: What the program itself tells the terminal: colours, places, modes, its title.
_OWN = re.compile(
    r"\x1b\[[0-9;]*[mH]|\x1b\[[?>=<][0-9;]*[a-zA-Z$]+|\x1b\]22?;[\w ,-]*\x07|\x1b\[\?2026[hl]|[\r\n]"
)
FAMILY = "👩\u200d👩\u200d👧"


def foreign(stream: str) -> set[str]:
    """What a stream has beside text and the program's own sequences."""
    rest = _OWN.sub("", stream)
    return {
        rest[max(at.start() - 40, 0) : at.end() + 20]
        for at in re.finditer(r"[^ ]", rest)
        if not at[0].isprintable()
    }


def inert(text: str) -> bool:
    # what joins emoji stands, where it joins them
    return harmless(text.replace("\u200d", ""))


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that is written to the terminal from now on."""
    told: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "is_headless", property(lambda _: False))
    monkeypatch.setattr(JudgeApp, "is_headless", property(lambda _: False))
    monkeypatch.setattr(HeadlessDriver, "write", lambda _, data: told.append(data))
    return told


def spoil(file: Path, word: str) -> None:
    """Put what a pull may bring behind a word of a file."""
    escaped = "".join(f"\\u{ord(ch):04x}" if not " " <= ch <= "~" else ch for ch in EVIL)
    text = file.read_text()
    assert word in text
    file.write_text(text.replace(word, word + escaped))


async def goes_nowhere(app: Driver, stream: list[str], editor: type[Widget] | None) -> None:
    """The editor in view shows the text, and tells the terminal nothing of it raw."""
    await app.pilot.pause(0.1)
    if editor is not None:
        assert isinstance(app.app.screen, editor)
    told = "".join(stream)
    assert foreign(told) == set()
    assert "]52;c;UFdORUQ=␇␛[2J" in told
    assert "]52;c;UFdORUQ=" in app.text()


async def test_a_summary_and_a_note_of_a_card_are_edited_without_a_raw_character(
    workspace: Workspace, stream: list[str]
) -> None:
    card = workspace.scorecard_path("kv", "alpha", "anna")
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "8", "S", "enter", *"hello", "escape", "escape", "a", "f4", *"noted", "escape")
    spoil(card, "hello")
    spoil(card, "noted")
    before = load_scorecard(card)
    assert EVIL in before.summary
    assert EVIL in before.notes[0].text
    async with running(make_app(workspace, engine=None)) as app:
        stream.clear()
        await app.press("s", "S", "enter")
        await goes_nowhere(app, stream, TextEditor)
        await app.press("x", "escape", "escape")
        stream.clear()
        await app.press("a")
        await app.pilot.pause()
        await goes_nowhere(app, stream, NoteEditor)
        await app.press("escape")
    after = load_scorecard(card)
    assert after.summary == before.summary + "x"
    assert after.notes == before.notes


async def test_a_line_of_a_matchup_is_edited_without_a_raw_character(
    workspace: Workspace, stream: list[str]
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "a", *"line", "enter", *"cell", "tab", "tab", *"why", "escape")
        app.matchup.flush()
    file = workspace.matchups_path("kv", "anna")
    for word in ("line", "cell", "why"):
        spoil(file, f'"{word}')
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M")
        assert isinstance(app.app.screen, MatchupScreen)
        rows = app.app.screen.rows
        rows.go(rows.keys.index(("criterion", 0)))
        stream.clear()
        await app.press("enter")
        await goes_nowhere(app, stream, CriterionEditor)
        assert app.text().count("␛[2J") >= 3


@pytest.mark.parametrize(
    ("key", "editor"),
    [("colon", LinePrompt), ("f", Picker), ("slash", None)],
    ids=["line", "picker", "search"],
)
async def test_what_is_pasted_into_a_line_is_not_told_raw(
    workspace: Workspace, stream: list[str], key: str, editor: type[Widget] | None
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press(key)
        line = app.app.screen.query_one(LineInput)
        stream.clear()
        line.value = EVIL
        await goes_nowhere(app, stream, editor)
        assert line.value == EVIL
        line.value = ""
        line.placeholder = EVIL
        stream.clear()
        line.refresh()
        await goes_nowhere(app, stream, editor)


class Editing(App[None]):
    CSS = """
    ProseArea { width: 24; height: 8; border: none; padding: 0; }
    LineInput { width: 24; height: 1; border: none; padding: 0; }
    """

    def compose(self) -> ComposeResult:
        yield ProseArea("")
        yield LineInput("")


TEXTS = st.lists(
    st.sampled_from(
        [piece.decode(errors="surrogateescape") for piece in PIECES] + [FAMILY, "❤\ufe0f", "1\ufe0f\u20e3"]
    )
    | st.text(max_size=6),
    max_size=12,
).map("".join)
KEYS = st.lists(
    st.sampled_from(
        ["cursor_left", "cursor_up", "cursor_line_end", "cursor_word_left", "delete_left", "undo"]
    ),
    max_size=6,
)


async def test_any_text_is_rows_of_the_editors_width_and_is_kept() -> None:
    async with Editing().run_test(size=(40, 12)) as pilot:
        area, line = pilot.app.query_one(ProseArea), pilot.app.query_one(LineInput)

        def drawn() -> list[str]:
            rows = [area.render_line(y) for y in range(area.size.height)]
            for row in rows:
                # a scrollbar stands beside the text, and blank rows go on behind it
                assert row.cell_length in (area.scrollable_content_region.width, area.size.width)
                assert row.cell_length == sum(cell_len(part.text) for part in row)
            return [row.text for row in rows] + [line.render_line(0).text]

        @settings(
            max_examples=settings.default.max_examples * 3 // 2,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(TEXTS, KEYS, st.booleans())
        def look(text: str, keys: list[str], focused: bool) -> None:
            area.load_text(text)
            line.value = text
            assert area.text == text
            area.move_cursor(area.document.end)
            assert all(map(inert, drawn()))
            for key in keys:
                getattr(area, f"action_{key}")()
                assert all(map(inert, drawn()))
            while area.history.undo_stack:
                area.undo()
            assert area.text == text

        area.focus()
        look()


async def test_a_cursor_stands_on_the_glyph_of_its_character() -> None:
    async with Editing().run_test(size=(40, 12)) as pilot:
        area, line = pilot.app.query_one(ProseArea), pilot.app.query_one(LineInput)
        await pilot.pause()
        area.load_text(EVIL)
        line.value = EVIL
        for column in range(len(EVIL)):
            area.move_cursor((0, column))
            assert area._cursor_offset == (column % area.wrap_width, column // area.wrap_width)
            assert line._position_to_cell(column) == column
        line.scroll_to(0, 0, animate=False)
        assert [line._cell_offset_to_index(at) for at in (0, 1, 22, 99)] == [0, 1, 22, len(EVIL)]
        area.load_text("a\x1b漢\u202e")
        assert [area.wrapped_document.offset_to_location(Offset(x, 0))[1] for x in range(6)] == [
            0,
            1,
            2,
            2,
            3,
            4,
        ]


@pytest.mark.parametrize(
    "text",
    [
        "naïve e\u0301",
        f"ok {FAMILY}!",
        "❤\ufe0f",
        "👍🏽",
        "🇩🇪🇫🇷",
        "1\ufe0f\u20e3",
        "👩\U0001f3fd\u200d💻",
        "漢字",
        "עברית",
    ],
)
def test_what_a_judge_types_stands_as_it_is(text: str) -> None:
    assert written(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (EVIL, SHOWN),
        ("a\tb", "a␉b"),
        ("Mini\u200dMax", f"Mini{HIDDEN}Max"),
        ("a\ufe0fb\ufe00", f"a{HIDDEN}b{HIDDEN}"),
        (f"{FAMILY}\u200dx", f"{FAMILY}{HIDDEN}x"),
        ("🇩", HIDDEN),
        ("🇩🇪🇫", f"🇩🇪{HIDDEN}"),
        ("\u0301x", "◌x"),
        ("a\u034f\U000e0041\udcff", f"a{HIDDEN * 3}"),
    ],
)
def test_what_hides_or_acts_is_one_glyph(text: str, shown: str) -> None:
    assert written(text) == shown
    assert len(shown) == len(text)


@given(TEXTS)
def test_a_line_has_as_many_glyphs_as_characters(text: str) -> None:
    assert len(written(text)) == len(text)
    assert inert(written(text))
    assert len(written(text, tabs=True)) == len(text)


async def test_a_text_with_other_ends_of_lines_is_kept_when_a_letter_is_typed() -> None:
    async with Editing().run_test(size=(40, 12)) as pilot:
        area = pilot.app.query_one(ProseArea)
        area.focus()
        for text in ("a\r\nb\r\nc", "a\r\nb\nc", "a\rb", "a\u2028b\x0cc\n\x85", "\n", "\r\n"):
            area.load_text(text)
            area.move_cursor(area.document.end)
            await pilot.press("x")
            assert area.text == text + "x"
            area.select_all()
            assert area.selected_text == text + "x"
            await pilot.press("delete")
            assert area.text == ""
            await pilot.press("ctrl+z")
            assert area.text == text + "x"


def test_a_paste_loses_what_turns_letters_round_and_keeps_what_joins_emoji() -> None:
    assert plain("a\u202eb\u2066c\u2069d\u200fe\u061cf\ud800") == "abcdef"
    assert plain("one\u2028two\u2029three") == "one\ntwo\nthree"
    assert plain(f"{FAMILY} ❤\ufe0f e\u0301") == f"{FAMILY} ❤\ufe0f e\u0301"
