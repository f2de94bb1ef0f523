"""The reader's own keys, theme and colours."""

from __future__ import annotations

import os
import re
import sys
import time
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from textual.dom import DOMNode

from judge_tui import tui
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.keys.keymap import key_table, load_keys, read_keymap
from judge_tui.tui.keys.preferences import Preferences, config_path, keep_theme, kept_theme
from judge_tui.tui.screens.help import HelpScreen
from judge_tui.tui.screens.picker import Picker

from .conftest import DYING, make_app, running
from .test_terminal import PROGRAM, Terminal


def configure(text: str) -> Path:
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_key_of_the_comparison_has_one_name_of_its_own(workspace: Workspace) -> None:
    make_app(workspace, engine=None).close_session()
    table = key_table()
    assert {name.split(".")[0] for name in table} >= {"code", "checks", "rubric", "everywhere", "lists"}
    assert table["code.next-function"] == ["right_square_bracket"]
    assert table["everywhere.search"] == ["slash"]
    for keys in table.values():
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("tables", "fault"),
    [
        (3, "c.toml: 'keys' must hold tables, as [keys.code]."),
        ({"code": 3}, "c.toml: [keys.code] must be a table of names and keys."),
        (
            {"code": {"next-functio": "x"}},
            "c.toml: no key is named code.next-functio. Was code.next-function",
        ),
        (
            {"code": {"go-to-definition": "x"}},
            "no key is named code.go-to-definition. Was code.to-the-definition-of-what-this-line-uses meant?",
        ),
        ({"everywhere": {"next-function": "x"}}, "Was code.next-function meant?"),
        ({"code": {"previos-note-in-any-file": "x"}}, "Was code.previous-note-in-any-file meant?"),
        ({"code": {"go-to-symbol": "S"}}, "no key is named code.go-to-symbol. Was everywhere.symbols meant?"),
        ({"code": {"serach": "S"}}, "Was everywhere.search meant?"),
        ({"rubric": {"diff": "D"}}, "Was everywhere.differences-of-this-function meant?"),
        ({"zzzz": {"qqqq": "x"}}, "c.toml: no key is named zzzz.qqqq. Help (?) shows what there is."),
        ({"code": {"next-function": "crtl+x"}}, "'crtl+x' is no key; keys are written as x, ctrl+x or f5."),
        ({"code": {"next-function": 7}}, "7 is no key"),
        ({"code": {"next-function": []}}, "[] is no key"),
        (
            {"code": {"next-function": "w"}},
            "c.toml: w is wanted by code.next-function and by code.wrap-long-lines; "
            "code.next-function keeps ].",
        ),
        ({"code": {"next-function": "q"}}, "q is wanted by code.next-function and by everywhere.quit;"),
        ({"matrix": {"mark": "n"}}, "n is wanted by matrix.mark and by home.next-to-judge;"),
        (
            {"everywhere": {"zoom-this-part": "x"}},
            "x is wanted by everywhere.zoom-this-part and by checks.cancel",
        ),
    ],
)
def test_what_cannot_be_followed_is_told_in_a_sentence_and_changes_nothing(
    tables: object, fault: str
) -> None:
    found = read_keymap(tables, "c.toml")
    assert not found.keys
    [told] = found.faults
    assert fault in told


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("shift+a", "A"), ("shift+É", "É"), ("shift+1", "the sign that it types"), ("ctrl+i", "tab"),
        ("ctrl+m", "enter"), ("ctrl+h", "backspace"), ("ctrl+[", "escape"), ("ctrl+I", "tab"),
        ("ctrl+D", "ctrl+d"), ("ctrl+ctrl+a", "ctrl+a"), ("ctrl+ctrl+i", "tab"),
        ("shift+shift+tab", "shift+tab"),
        ("\x1b", "escape"), ("\t", "tab"), ("\x04", "ctrl+d"), ("\x7f", "backspace"), ("\x1d", "ctrl+]"),
    ],
)  # fmt: skip
def test_a_key_that_is_told_by_another_name_is_refused_with_that_name(key: str, right: str) -> None:
    for value in (key, ["f5", key]):
        found = read_keymap({"code": {"next-function": value}}, "c.toml")
        assert not found.keys
        assert found.faults == (f"c.toml: code.next-function = {key!r} is no key of its own; write {right}.",)


def test_what_is_written_instead_is_a_key() -> None:
    keys = ["ctrl+]", "ctrl+\\", "ctrl+@", "ctrl+j", "shift+f3", "ctrl+shift+left", "alt+x"]
    name = "to-the-definition-of-what-this-line-uses"
    found = read_keymap({"code": {name: keys}}, "c.toml")
    assert not found.faults
    # ctrl with a sign is told by its word
    assert found.keys[f"code.{name}"].split(",")[:3] == [
        "ctrl+right_square_bracket",
        "ctrl+backslash",
        "ctrl+@",
    ]
    for odd in ("\u202e", "ctrl+\u202e", "ctrl+", "+a"):
        assert "is no key; keys" in read_keymap({"code": {"next-function": odd}}, "c.toml").faults[0]


@pytest.mark.parametrize(("part", "why"), [("rubric", "digits are the score")])
def test_digits_stay_digits_where_they_are_scores_(part: str, why: str) -> None:
    load_keys()
    name = next(name.partition(".")[2] for name in key_table() if name.startswith(f"{part}."))
    for value in ("5", ["f12", "0"]):
        found = read_keymap({part: {name: value}}, "c.toml")
        assert not found.keys
        assert why in found.faults[0]
    assert not read_keymap({part: {name: ["f12", "ctrl+5"]}}, "c.toml").faults


def test_two_keys_may_change_places_and_one_may_have_several() -> None:
    swapped = {"code": {"next-match": "N", "previous-match": "n", "wrap-long-lines": ["W", ","]}}
    found = read_keymap(swapped | {"everywhere": {"help": "f1"}}, "c.toml")
    assert found.faults == (
        "c.toml: , is wanted by code.wrap-long-lines and by everywhere.previous-file; "
        "code.wrap-long-lines keeps w.",
    )
    assert dict(found.keys) == {"code.next-match": "N", "code.previous-match": "n", "everywhere.help": "f1"}


def test_of_two_wishes_for_one_key_the_first_has_it() -> None:
    found = read_keymap({"code": {"next-function": "ctrl+j", "previous-function": "ctrl+j"}}, "c.toml")
    assert dict(found.keys) == {"code.next-function": "ctrl+j"}
    # a comparison and Home are never on the screen together, nor do the code and the rubric listen to one key
    apart = {"code": {"next-function": "O"}, "home": {"next-to-judge": "z"}}
    assert not read_keymap(apart, "c.toml").faults
    assert len(found.faults) == 1


def test_every_binding_of_every_class_has_a_name(workspace: Workspace) -> None:
    nameless = []
    for module in walk_packages(tui.__path__, "judge_tui.tui."):
        for kind in vars(import_module(module.name)).values():
            if isinstance(kind, type) and issubclass(kind, DOMNode) and kind.__module__ == module.name:
                nameless += [
                    (kind.__name__, binding.key)
                    for binding in vars(kind).get("BINDINGS", ())
                    if not binding.id and binding.action != "digit"
                ]
    assert nameless == []


@pytest.mark.parametrize("part", ["picker", "editor", "search", "program"])
def test_letters_stay_letters_where_they_are_typed(part: str) -> None:
    load_keys()
    name = next(name.partition(".")[2] for name in key_table() if name.startswith(f"{part}."))
    for key in ("x", "?", "space", "backspace"):
        [fault] = read_keymap({part: {name: key}}, "c.toml").faults
        assert "would be missing where letters are typed" in fault
    assert not read_keymap({part: {name: "f12"}}, "c.toml").faults


def test_dialogs_conflict_with_what_is_listened_to_beside_them() -> None:
    load_keys()
    told = {
        ("evidence", "back", "j"): "j is wanted by evidence.back and by lists.row-down; evidence.back keeps",
        ("note", "bug", "tab"): "tab is wanted by note.bug and by editor.next-field; note.bug keeps f4.",
        ("reveal", "reveal-the-names-now", "escape"): "by reveal.reveal-the-names-now and by question.later;",
        ("matchup", "tie", "ctrl+p"): "by matchup.tie and by program.all-actions-by-their-names;",
        ("counts", "begin", "z"): "z is wanted by counts.begin and by everywhere.zoom-this-part;",
    }
    for (part, name, key), sentence in told.items():
        [fault] = read_keymap({part: {name: key}}, "c.toml").faults
        assert sentence in fault
    # other dialogs are never open at the same time
    assert not read_keymap({"evidence": {"jump-to-line": "t"}, "picker": {"next": "ctrl+s"}}, "c.toml").faults


async def test_keys_of_lists_and_dialogs_are_the_readers_too(workspace: Workspace) -> None:
    configure(
        '[keys.picker]\nnext = "f7"\ngo-there = "f10"\nclose = "f11"\n'
        '[keys.note]\nbug = "f9"\n[keys.editor]\ndone-kept = "f12"\n'
        '[keys.evidence]\nback = "B"\n[keys.lists]\nrow-down = "ctrl+j"\n'
        '[keys.search]\ndrop-the-hits = "f7"\n[keys.matchup]\naccept = "f7"\n'
        '[keys.sheet]\nhelp = "f7"\n[keys.program]\nall-actions-by-their-names = "ctrl+o"\n'
        '[keys.code]\nback-to-where-a-jump-came-from = "less_than_sign"\n'
    )
    async with running(make_app(workspace), (100, 40)) as app:
        await app.settle()
        pane = app.compare.panes[0]
        await app.press("f")
        assert "f7 move, f10 goes there" in app.text()
        await app.press("f7", "f10")
        assert pane.file == "kv_cache.py"
        await app.press("f", "f11")
        assert app.app.screen is app.compare
        await app.press("slash", "x", "escape")
        assert "f7 drop" in app.text()
        await app.press("f7", "a")
        assert " f9 bug" in app.text()
        assert "f12 closes and keeps" in app.text()
        await app.press("f9", *"wrong", "escape", "f12")
        assert [(n.kind, n.text) for n in app.compare.session.notes(0)] == [("bug", "wrong")]
        await app.press("c", "enter")
        hints = app.text().split("\n")[-1]
        assert "B back" in hints
        assert hints.rstrip().endswith("f7 help")
        rows = app.app.screen.focused
        begun = rows.cursor  # type: ignore[union-attr]
        await app.press("ctrl+j", "escape")
        assert rows.cursor == begun + 1  # type: ignore[union-attr]
        await app.press("f7")
        assert isinstance(app.app.screen, HelpScreen)
        await app.press("escape", "B", "M")
        assert "f7 accepts, d declines" in app.text()
        await app.press("ctrl+o")
        assert type(app.app.screen).__name__ == "CommandPalette"


async def test_the_palette_holds_every_action_of_the_screen(workspace: Workspace) -> None:
    async with running(make_app(workspace), (120, 40)) as app:
        await app.settle()
        titles = {command.title for command in app.app.get_system_commands(app.compare)}
        assert titles >= {"Next function", "Rubric: next unscored", "Checks: run all again", "Undo", "Help"}
        assert not any("igit" in title for title in titles)
        run = {command.title: command.callback for command in app.app.get_system_commands(app.compare)}
        run["Rubric: overall"]()
        await app.until(
            lambda: app.compare.parts.layout.in_focus == "rubric" and app.compare.session.row == 2
        )
        run["Checks: where they differ"]()
        await app.until(lambda: type(app.app.screen).__name__ == "DifferencesScreen")
        shown = app.app.screen
        titles = {command.title for command in app.app.get_system_commands(shown)}
        assert titles >= {"All checks", "Page down", "Back"}
        await app.press("ctrl+p", *"all checks")
        await app.until(lambda: "All checks" in app.text())
        await app.press("enter")
        await app.until(lambda: app.app.screen is shown and shown._all)


async def test_chosen_keys_work_and_are_what_help_hints_and_messages_say(workspace: Workspace) -> None:
    configure(
        '[keys.code]\nnext-function = ["J", "ctrl+n"]\nselect-downwards = "ctrl+j"\n'
        '[keys.everywhere]\nsymbols = "ctrl+t"\nhelp = "ctrl+g"\n'
    )
    async with running(make_app(workspace), (160, 160)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        await app.press("J")
        assert view.cursor == 5
        await app.press("ctrl+n")
        assert view.cursor == 8
        await app.press("right_square_bracket", "o", "question_mark")
        assert view.cursor == 8
        assert app.app.screen is app.compare
        hints = app.text().split("\n")[-1]
        assert "^t symbols" in hints
        assert hints.rstrip().endswith("^g help")
        await app.press("ctrl+t")
        assert isinstance(app.app.screen, Picker)
        await app.press("escape", "ctrl+g")
        assert isinstance(app.app.screen, HelpScreen)
        told = [line.split() for line in app.text().split("\n")]
        assert ["J", "^n", "next", "function"] in told
        assert ["^t", "symbols"] in told
        await app.press("escape")
        keys = {c.title: c.help for c in app.app.get_system_commands(app.compare)}
        assert keys["Next function"] == "key: J"


async def test_of_many_faults_of_the_settings_some_are_told_and_the_rest_is_counted(
    workspace: Workspace,
) -> None:
    configure("theme = '" + "x" * 9_000 + "'\n[keys.code]\n" + "".join(f"k{n} = 'x'\n" for n in range(9_000)))
    began = time.monotonic()
    async with running(make_app(workspace, engine=None)) as app:
        assert time.monotonic() - began < 20
        (told,) = app.messages()
        assert len(told) < 2_000
        assert told.endswith("shows them all")


def test_settings_may_begin_with_a_byte_order_mark() -> None:
    configure("\ufefftheme = 'nord'\n")
    assert Preferences.read() == Preferences("nord")


@pytest.mark.parametrize(
    "text", ["theme = [", "\x00", "theme = 3", "keys = 3", "a = " + "[" * 5000, "a = " + "9" * 5000]
)
def test_settings_that_are_no_settings_are_one_sentence(workspace: Workspace, text: str) -> None:
    path = configure(text)
    read = Preferences.read()
    faults = (*read.faults, *read_keymap(read.keys, path.name).faults)
    assert len(faults) == 1
    assert path.name in faults[0]


async def test_a_theme_that_is_picked_is_kept_until_the_settings_name_another(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        assert app.app.theme == "judge-dark"
        app.app.theme = "judge-light"
        await app.until(lambda: kept_theme() == ("judge-light", ""))
    async with running(make_app(workspace, engine=None)) as app:
        assert app.app.theme == "judge-light"
    known = {"judge-dark", "judge-light", "nord"}
    configure('theme = "nord"\n')
    assert Preferences.read().theme_among(known) == ("nord", ())
    keep_theme("judge-dark", "nord")
    assert Preferences.read().theme_among(known) == ("judge-dark", ())
    keep_theme("gone", "nord")
    assert Preferences.read().theme_among(known) == ("nord", ())


async def test_every_theme_draws_the_comparison(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        for theme in app.app.available_themes:
            app.app.theme = theme
            await app.pilot.pause()
            assert "class Cache:" in app.text(), theme


COLOUR = re.compile(rb"\x1b\[[0-9;:]*?(?<![0-9])(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])(?![0-9])[0-9;:]*m")


def test_no_color_means_no_colour_at_all_and_states_are_told_by_signs(
    workspace: Workspace, tmp_path: Path
) -> None:
    env = dict(os.environ) | {"NO_COLOR": "1", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    terminal = Terminal([sys.executable, "-c", PROGRAM, str(workspace.root), DYING], env)
    try:
        terminal.until(lambda: b"ended unexpectedly" in terminal.output)
        terminal.send(b"vj/cache\r:3\rsO?")
        terminal.until(lambda: b"what each part of the screen answers to" in terminal.output)
        terminal.send(b"\x1bs85")
        terminal.until(lambda: b"saved" in terminal.output)
        terminal.send(b"q")
        assert terminal.wait() == 0
    finally:
        terminal.close()
    assert COLOUR.search(b"\x1b[1;38;2;1;2;3m")
    assert not COLOUR.search(terminal.output), COLOUR.findall(terminal.output)[:3]
    # the cursor's line and a hit are reversed, a heading is bold
    assert re.search(rb"\x1b\[[0-9;]*7m", terminal.output)
    assert re.search(rb"\x1b\[[0-9;]*1m", terminal.output)


@pytest.mark.parametrize(("value", "plain"), [("1", True), ("", False)])
async def test_colours_are_off_when_the_variable_says_something(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, value: str, plain: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("j", "v", "j")
        styles = [s.style for line in app.app.screen._compositor.render_strips() for s in line if s.style]
        assert any(style.color or style.bgcolor for style in styles) is not plain
        if plain:
            rows = app.compare.panes[0].view
            reversed_ = [any(s.style and s.style.reverse for s in rows.render_line(y)) for y in range(4)]
            assert reversed_ == [False, True, True, False]
