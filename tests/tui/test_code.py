from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from textual.widgets import Input

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.diff import DiffScreen
from judge_tui.tui.screens.picker import Picker
from judge_tui.tui.widgets.code_view import CodeView

from .conftest import make_app, make_workspace, running

LONG = (
    "def first():\n    if True:\n        return 1\n    return 2\n\n\ndef second():\n    return 3\n\n\nx = 1\n"
)


def write(workspace: Workspace, text: str, model: str = "alpha") -> None:
    (workspace.root / "submissions" / model / "kv" / "kv_cache.py").write_text(text)


def shown(view: CodeView) -> list[str]:
    """Text of the rows in view, line numbers included."""
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


async def test_search_counts_in_all_panes_and_steps_through(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("slash", *"cache")
        await app.until(lambda: all(pane.counts for pane in app.compare.panes))
        assert "A 4  B 4" in app.text()
        await app.press("enter", "n")
        assert app.compare.panes[0].view.cursor == 5
        await app.press("N")
        assert app.compare.panes[0].view.cursor == 0
        await app.press("escape")
        assert not app.compare.panes[1].view.hits


async def test_every_hit_of_a_long_line_is_reached_and_counted(workspace: Workspace) -> None:
    write(workspace, "x = 0\n" + "key " * 3 + "." * 300 + " key\nkey = 1\n")
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        await app.press("slash", *"key")
        await app.until(lambda: len(view.hits) == 5)
        await app.press("enter")
        seen = []
        for _ in range(5):
            seen.append((view.hit, view.cursor, view.left > 0))
            await app.press("n")
        assert seen == [(0, 1, False), (1, 1, False), (2, 1, False), (3, 1, True), (4, 2, False)]
        assert "1 of 5 found" in app.text()
        await app.press("N")
        assert (view.hit, view.cursor) == (4, 2)


async def test_a_search_goes_on_in_the_file_that_comes_into_view(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("slash", *"return", "enter")
        pane = app.compare.panes[0]
        await app.until(lambda: pane.counts == "2 found")
        await app.press("full_stop")
        await app.until(lambda: pane.file == "helpers.py" and [hit.line for hit in pane.view.hits] == [1])


async def test_search_reads_a_regular_expression_when_told_and_says_what_is_wrong(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("slash", *"def .*\\(", "ctrl+r")
        await app.until(lambda: len(app.compare.panes[0].view.hits) == 4)
        app.app.screen.query_one(Input).value = "("
        await app.until(lambda: "missing )" in app.text())
        await app.press("escape")
        assert isinstance(app.app.focused, CodeView)


async def test_a_search_that_takes_too_long_is_given_up_and_told(workspace: Workspace) -> None:
    write(workspace, "x = '" + "a" * 300 + "!'\n")
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("slash", "ctrl+r")
        app.app.screen.query_one(Input).value = "(a|aa)+$"
        await app.until(lambda: "A given up: too slow" in app.text())
        app.app.screen.query_one(Input).value = "a+!"
        await app.until(lambda: "A 1" in app.text())


async def test_files_and_symbols_are_picked_by_typing(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("o")
        assert isinstance(app.app.screen, Picker)
        await app.press(*"att", "enter")
        assert app.compare.panes[0].view.cursor == 17
        await app.press("f", *"help", "enter")
        assert app.compare.panes[0].file == "helpers.py"
        await app.press("full_stop")
        assert app.compare.panes[0].file == "kv_cache.py"
        assert app.compare.panes[0].view.cursor == 17


async def test_vim_keys_move(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        for keys, line in (
            (["j", "j"], 2),
            (["k"], 1),
            (["G"], 23),
            (["g"], 0),
            (["right_square_bracket"], 5),
        ):
            await app.press(*keys)
            assert view.cursor == line


async def test_resizing_keeps_the_cursor_in_view(workspace: Workspace) -> None:
    async with running(make_app(workspace), (200, 60)) as app:
        await app.settle()
        await app.press("G")
        for size in ((80, 24), (240, 70), (30, 8), (160, 45)):
            await app.pilot.resize_terminal(*size)
            await app.pilot.pause()
            view = app.compare.panes[0].view
            assert view.scroll_offset.y <= view.cursor


@pytest.mark.parametrize(
    "content",
    [
        b"\x1b]52;c;aGk=\x07\x1b[2J\x00\r\n" * 50,
        b"\xff\xfe" * 4000,
        b"x" * 3_000_000,
        b"a\n" * 100_000,
        "\u202e\u2066漢字e\u0301\u0301🇩🇪".encode() * 500,
        b"",
        b"\t" * 5000 + b"\n[bold]x[/bold]\n",
    ],
    ids=["escapes", "bytes", "giant line", "many lines", "bidi", "empty", "tabs"],
)
async def test_hostile_files_are_shown_harmlessly_and_moved_through(
    workspace: Workspace, content: bytes
) -> None:
    (workspace.root / "submissions" / "alpha" / "kv" / "kv_cache.py").write_bytes(content)
    async with running(make_app(workspace, engine=None), (100, 30)) as app:
        await app.until(lambda: app.compare.panes[0].settled and app.compare.panes[0].view.source.measured)
        await app.press("G", "dollar_sign", "h", "ctrl+u", "v", "k", "0", "g")
        lines = app.text().split("\n")
        assert all(ch.isprintable() for line in lines for ch in line)


async def test_selected_lines_are_copied(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    write(workspace, LONG)
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("v", "j", "Y")
        assert app.app.clipboard == "def first():\n    if True:\n"


async def test_a_function_is_shown_beside_its_matches_and_its_lines_are_gone_to(
    tmp_path: Path, workspace: Workspace
) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    write(three, "def attend(q, k, v):\n    s = q @ k.T\n    return soft(s) @ v\n")
    write(three, "import os\n\n\ndef attend(q, k, v):\n    s = q @ keys.T\n    return soft(s) @ v\n", "beta")
    write(three, "def attend(q, k, v):\n    s = q @ k.T\n    s = s / 8\n    return soft(s) @ v\n", "gamma")
    async with running(make_app(three, ("alpha", "beta", "gamma"))) as app:
        await app.settle()
        await app.press("j", "d")
        await app.until(lambda: isinstance(app.app.screen, DiffScreen))
        lines = [[part.split() for part in line.split("│")] for line in app.text().split("\n")[1:5]]
        assert lines[1] == [
            ["2", "s", "=", "q", "@", "k.T"],
            ["5", *["s", "=", "q", "@", "keys.T"]],
            [*["2", "s", "=", "q", "@", "k.T"]],
        ]
        assert lines[2][2] == ["3", "s", "=", "s", "/", "8"]
        assert lines[2][0] == lines[2][1] != []
        assert set(lines[2][0][0]) == {"╱"}
        assert "2 of 4 lines the same" in app.text()
        await app.press("n", "n", "enter")
        assert [pane.view.cursor for pane in app.compare.panes] == [1, 0, 2]


async def test_a_function_without_a_match_says_so_instead_of_a_diff(workspace: Workspace) -> None:
    write(workspace, "import os\n\n\ndef only_here(path):\n    return os.stat(path)\n")
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("d")
        said = "Put the cursor into a function or class."
        await app.until(lambda: any(note.message == said for note in app.app._notifications))
        await app.press("G", "d")
        nothing = "The files in view have nothing like only_here."
        await app.until(lambda: [note.message for note in app.app._notifications] == [nothing])
        assert not isinstance(app.app.screen, DiffScreen)


async def test_links_and_names_that_are_not_utf8_are_told_in_the_pane(
    workspace: Workspace,
) -> None:
    folder = workspace.submission("alpha", "kv").path
    (folder / "link.py").symlink_to("kv_cache.py")
    (folder / os.fsdecode(b"b\xff.py")).write_text("y = 1\n")
    async with running(make_app(workspace, engine=None), (200, 45)) as app:
        await app.until(lambda: app.compare.panes[0].file)
        assert any(
            told.startswith(r"A: 2 files are no part of the submission: b\xff.py (its name is not UTF-8)")
            for told in app.messages()
        )
        assert "2 left out" in app.text()
        await app.press("f4")
        await app.until(lambda: "LEFT OUT (2)" in app.text())
        assert "link.py (a link)" in app.text()


async def test_an_archive_alone_is_told_in_the_pane_with_what_to_do(workspace: Workspace) -> None:
    folder = workspace.submission("alpha", "kv").path
    for file in folder.iterdir():
        file.unlink()
    with zipfile.ZipFile(folder / "work.zip", "w") as archive:
        archive.writestr("a.py", "x = 1\n")
    async with running(make_app(workspace, engine=None), (200, 45)) as app:
        await app.until(lambda: app.compare.panes[0].file == "work.zip")
        for line in (
            "work.zip is a zip archive:",
            "nothing in it is shown or checked.",
            "judge-tui add unpacks it.",
        ):
            assert line in app.text()
        said = "A: work.zip is a zip archive, no file of code, and judge-tui add work.zip makes those."
        await app.until(lambda: said in app.messages())
