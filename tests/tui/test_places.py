"""Definitions, the way back, bookmarks, notes and findings across files, lines by number."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.code.bookmarks import Bookmarks
from judge_tui.tui.code.definitions import Used, index, names_in
from judge_tui.tui.code.highlight import read
from judge_tui.tui.code.jumps import JumpList, Place
from judge_tui.tui.code.source import Source
from judge_tui.tui.screens.line_prompt import LinePrompt, line_meant
from judge_tui.tui.screens.picker import Picker

from .conftest import make_app, running

MAIN = """from helpers import scale

LIMIT = 8


class Cache:
    def __init__(self):
        self.keys = []

    def add(self, key):
        self.keys.append(scale(key) + LIMIT)


def run(cache):
    cache.add(1)
    note = "LIMIT in a text"  # scale in a comment
    return cache
"""
HELPERS = "def unused():\n    pass\n\n\ndef scale(x):\n    return 2 * x\n"


def fill(workspace: Workspace, model: str = "alpha") -> None:
    folder = workspace.root / "submissions" / model / "kv"
    (folder / "kv_cache.py").write_text(MAIN)
    (folder / "helpers.py").write_text(HELPERS)


def used(name: str, text: str, line: int) -> list[Used]:
    source = Source(text.encode())
    return names_in(source, read(name, source), line)


def found(files: dict[str, str], file: str, line: int) -> list[tuple[str, str, str, int]]:
    """Definitions of what a line uses."""
    sources = {name: Source(text.encode()) for name, text in files.items()}
    known = index(list(files), lambda name: (sources[name], read(name, sources[name])))
    names = names_in(sources[file], read(file, sources[file]), line)
    return [(d.name, d.kind, d.file, d.line) for d in known.of(names, file, line)]


def test_names_of_a_line_are_neither_in_texts_nor_in_comments() -> None:
    assert used("a.py", MAIN, 15) == []
    assert used("a.py", MAIN, 10) == [
        Used("keys", member=True, within=frozenset({"self"})),
        Used("append", member=True, within=frozenset({"keys"})),
        Used("scale"),
        Used("LIMIT"),
    ]


def test_a_line_leads_to_functions_constants_and_attributes_in_every_file() -> None:
    assert found({"main.py": MAIN, "helpers.py": HELPERS}, "main.py", 10) == [
        ("keys", "attribute", "main.py", 7),
        ("scale", "function", "helpers.py", 4),
        ("LIMIT", "constant", "main.py", 2),
    ]
    assert found({"main.py": MAIN, "helpers.py": HELPERS}, "main.py", 0) == [
        ("helpers", "file", "helpers.py", 0),
        ("scale", "function", "helpers.py", 4),
    ]


def test_cuda_macros_kernels_and_headers_are_definitions() -> None:
    kernel = '#include "topk.cuh"\n#define TILE 32\nint main() {\n  topk<<<TILE, 1>>>(limit);\n}\n'
    header = "static const int limit = 4;\nnamespace a { template <int K> struct Heap { int n; }; }\n" + (
        "__global__ void topk(int n) { n = 1; }\n"
    )
    files = {"main.cu": kernel, "topk.cuh": header}
    assert found(files, "main.cu", 0) == [("topk.cuh", "file", "topk.cuh", 0)]
    assert found(files, "main.cu", 3) == [
        ("topk", "function", "topk.cuh", 2),
        ("topk", "file", "topk.cuh", 0),
        ("TILE", "macro", "main.cu", 1),
        ("limit", "constant", "topk.cuh", 0),
    ]


def test_hostile_nesting_is_looked_through_within_bounds() -> None:
    deep = "x = " + "(" * 20_000 + "y" + ")" * 20_000 + "\n"
    assert len(used("a.py", deep, 0)) <= 2
    assert found({"a.py": "def y():\n    pass\n" * 3000, "b.py": "y()\n"}, "b.py", 0)[0] == (
        "y",
        "function",
        "a.py",
        0,
    )


def test_the_way_back_and_forward_ends_at_a_new_jump() -> None:
    jumps = JumpList()
    a, b, c, d = (Place(0, "f", line) for line in range(4))
    assert jumps.back(a) is None
    jumps.leave(a)
    jumps.leave(b)
    assert jumps.back(c) == b
    assert jumps.back(b) == a
    assert jumps.forward(a) == b
    assert jumps.forward(b) == c
    assert jumps.back(c) == b
    jumps.leave(b)
    assert jumps.forward(d) is None


def test_the_place_where_one_is_counts_as_no_step_back() -> None:
    jumps = JumpList()
    jumps.leave(Place(0, "f", 1))
    jumps.leave(Place(0, "f", 2))
    assert jumps.back(Place(0, "f", 2)) == Place(0, "f", 1)


def test_bookmarks_outlive_the_program_and_follow_their_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    marks = Bookmarks(tmp_path)
    assert marks.toggle("a.py", 1, "  two")
    assert marks.toggle("a.py", 2, "three")
    marks.save()
    again = Bookmarks(tmp_path)
    again.settle("a.py", ["zero", "one", "two", "other"])
    assert again.within("a.py") == [2]
    again.settle("a.py", ["zero", "    two", "three"])
    assert again.within("a.py") == [1, 2]
    again.settle("a.py", ["two"])
    assert again.within("a.py") == [0]
    again.settle("a.py", ["", "two"])
    assert not again.toggle("a.py", 1, "two")
    assert len(Bookmarks(tmp_path)) == 2
    for junk in ("", "[1]", '[{"file": 1}]', '{"a": 1}', "[[]]"):
        marks._path.write_text(junk)
        assert len(Bookmarks(tmp_path)) == 0


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("7", 7),
        ("999", 90),
        ("0", 1),
        ("+5", 15),
        ("-50", 1),
        ("$", 90),
        ("", None),
        ("x", None),
        ("+", None),
    ],
)
def test_a_line_is_meant_by_number_distance_or_as_the_last(text: str, line: int | None) -> None:
    assert line_meant(text, 10, 90) == line


async def test_definitions_are_gone_to_across_files_and_the_way_leads_back(workspace: Workspace) -> None:
    fill(workspace)
    async with running(make_app(workspace)) as app:
        await app.settle()
        pane = app.compare.panes[0]
        await app.press("colon", *"11", "enter")
        assert pane.view.cursor == 10
        await app.press("D")
        await app.until(lambda: isinstance(app.app.screen, Picker))
        await app.press(*"scale", "enter")
        assert (pane.file, pane.view.cursor) == ("helpers.py", 4)
        await app.press("less_than_sign")
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", 10)
        await app.press("ctrl+o")
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", 0)
        await app.press("greater_than_sign", "greater_than_sign")
        assert (pane.file, pane.view.cursor) == ("helpers.py", 4)
        await app.press("less_than_sign", "colon", *"15", "enter", "D")
        await app.until(lambda: pane.view.cursor == 9)
        await app.press("D")
        await app.until(lambda: any("is defined" in n.message for n in app.app._notifications))


async def test_the_way_back_leads_to_the_other_pane(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("j", "j", "c", "o")
        assert (app.app.focused, app.compare.panes[1].view.cursor) == (app.compare.panes[1].view, 14)
        await app.press("less_than_sign")
        assert (app.app.focused, app.compare.panes[0].view.cursor) == (app.compare.panes[0].view, 2)
        await app.press("less_than_sign")
        assert any("No jump leads back" in note.message for note in app.app._notifications)


def test_bookmarks_of_another_window_are_kept_and_odd_ones_cost_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    one, other = Bookmarks(tmp_path), Bookmarks(tmp_path)
    one.toggle("a.py", 1, "x")
    one.save()
    other.renew()
    other.toggle("a.py", 2, "y")
    other.save()
    one.renew()
    assert one.within("a.py") == [1, 2]
    one._path.write_text('[{"file": "a.py", "line": 1e999, "text": ""}]')
    one.renew()
    assert not len(one)


async def test_a_place_whose_file_is_gone_is_told(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        app.compare.parts.places.visit(Place(1, "gone.py", 3))
        await app.press("A")
        assert any("gone.py is no longer there." in told.message for told in app.app._notifications)


async def test_bookmarks_are_set_shown_listed_stepped_through_and_kept(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        pane = app.compare.panes[0]
        await app.press("j", "j", "b", "full_stop", "b")
        assert "1• def helper" in pane.view.render_line(0).text
        await app.press("p")
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", 2)
        await app.press("P")
        assert (pane.file, pane.view.cursor) == ("helpers.py", 0)
    async with running(make_app(workspace, engine=None)) as app:
        pane = app.compare.panes[0]
        assert "3• import numpy" in pane.view.render_line(2).text
        await app.press("B", "apostrophe", *"numpy", "enter")
        assert (app.app.focused, pane.view.cursor) == (pane.view, 2)
        await app.press("b", "p")
        assert (pane.file, pane.view.cursor) == ("helpers.py", 0)
        assert "•" not in app.compare.panes[1].view.render_line(2).text


async def test_notes_and_findings_are_stepped_through_in_every_file(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        pane = app.compare.panes[1]
        await app.press(
            "B", "full_stop", "a", "f3", *"odd", "escape", "comma", "j", "j", "a", "f3", *"no", "escape"
        )
        await app.press("e")
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", 14)
        await app.press("right_parenthesis")
        assert (pane.file, pane.view.cursor) == ("helpers.py", 0)
        await app.press("right_parenthesis")
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", 2)
        await app.press("left_parenthesis", "E")
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", 14)
        await app.press("A", "e")
        assert any("No check points" in note.message for note in app.app._notifications)


async def test_tabs_and_trailing_blanks_are_shown_on_demand(workspace: Workspace) -> None:
    text = "def f():\n\treturn 1  \n  x\ty = 2 \t\n"
    (workspace.root / "submissions" / "alpha" / "kv" / "kv_cache.py").write_text(text)
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        before = [view.render_line(y).cell_length for y in range(4)]
        assert "→" not in app.text()
        await app.press("i")
        shown = [view.render_line(y).text[6:].rstrip() for y in range(3)]
        assert shown == ["def f():", "→   return 1··", "  x→y = 2·→"]
        assert [view.render_line(y).cell_length for y in range(4)] == before
        await app.press("i")
        assert "→" not in app.text()


async def test_a_line_is_asked_for_and_escape_stays(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        await app.press("G", "colon")
        assert isinstance(app.app.screen, LinePrompt)
        await app.press("escape")
        assert view.cursor == 23
        await app.press("colon", *"-3", "enter", "g", "g", "ctrl+e", "ctrl+y")
        assert view.cursor == 0
        await app.press("less_than_sign")
        assert view.cursor == 20
