"""Any bytes in a file, any characters in a name: nothing of them reaches the terminal raw, breaks a row or
stalls the screen. What a stall is, is counted in characters that are looked at, not measured."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.code import source as source_module
from judge_tui.tui.code.folds import fold_at
from judge_tui.tui.code.highlight import Highlight, read
from judge_tui.tui.code.search import Hit, compile_pattern, find
from judge_tui.tui.code.source import CHUNK, Source
from judge_tui.tui.code.syntax_styles import syntax_styles
from judge_tui.tui.look.glyphs import is_plain
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.widgets.code_lines import Mark
from judge_tui.tui.widgets.code_view import CodeView

from .conftest import make_app, running

PIECES = [
    b"\x1b[2J",
    b"\x1b]52;c;SEVMTE8=\x07",
    b"\x1b]0;owned\x1b\\",
    b"\x1bP+q544e\x1b\\",
    b"\x9b31m",
    "\u009b31m\u009d0;x\u009c".encode(),
    "\u202e\u2066\u2069\u200f\u061c".encode(),
    "\u2028\u2029\u0085".encode(),
    "e\u0301\u0301\u0301\u0301\u0336".encode(),
    "漢字\uff21\u3000".encode(),
    "👩\u200d👩\u200d👧🏽🇩🇪\ufe0f".encode(),
    "\u0600\u1160\u3164\ufeff\u00ad".encode(),
    "\U000e0041\U000f0000".encode(),
    b"\t",
    b"  \t ",
    b"\x00",
    b"\x7f\x08\x0b\x0c\x0e\x0f",
    b"\r\n",
    b"\r",
    b"\n",
    b"\xff\xfe\xed\xa0\x80\xc0\xaf",
    b"[bold]x[/bold]\\[",
    b"def f(x):\n    return '",
    b"(" * 40,
    b"x" * 300,
]
BYTES = st.lists(st.sampled_from(PIECES) | st.binary(max_size=12), max_size=25).map(b"".join)
#: Characters that the slowest way of looking at them takes far less than 100 ms for.
BUDGET = 150 * CHUNK


def raw(view: CodeView) -> list[str]:
    """What the rows in view send to a terminal, the styles' own sequences left out."""
    out = []
    for y in range(view.size.height):
        strip = view.render_line(y)
        assert strip.cell_length == view.size.width
        assert cell_len(strip.text) == view.size.width
        out.append(strip.text)
    return out


def harmless(text: str) -> bool:
    return all(ch == " " or ch.isprintable() for ch in text)


async def test_any_bytes_are_rows_of_the_views_width_in_every_way_of_looking(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (90, 24)) as app:
        view = app.compare.panes[0].view
        actions = st.sampled_from(
            [
                "move(3)",
                "page(1)",
                "page(-0.5)",
                "edge(1)",
                "edge(0)",
                "slide(8)",
                "slide(-8)",
                "slide_edge(1)",
                "select",
                "extend(2)",
                "fold",
                "fold_all",
                "wrap",
                "whitespace",
                "hit(1)",
                "mark(1)",
                "scroll(1)",
            ]
        )

        @settings(
            max_examples=settings.default.max_examples * 3 // 5,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(BYTES, st.lists(actions, max_size=10), st.sampled_from(["a.py", "a.cu", "a.md", "noext"]))
        def look(data: bytes, steps: list[str], name: str) -> None:
            source = Source(data)
            view.wrapped = view.whitespace = False
            view.show(source)
            view.color(read(name, source), syntax_styles(tones_of(view.app)))
            pattern = compile_pattern("x|e", regex=True)
            assert pattern is not None
            view.search(find(source, pattern))
            view.mark({0: Mark("◆", "error"), len(source) - 1: Mark("✗", "error")})
            view.flag([0, 1])
            assert all(map(harmless, raw(view)))
            for step in steps:
                action, _, argument = step.rstrip(")").partition("(")
                call = getattr(view, f"action_{action}")
                call(float(argument) if "." in argument else int(argument)) if argument else call()
                assert all(map(harmless, raw(view)))
                assert 0 <= view.cursor < len(source)

        look()


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many characters each look at a text goes through, from now on."""
    looked: list[int] = []
    lay_out = source_module._lay_out

    def plain(text: str) -> bool:
        # the speed of C: a hundredth of what laying out costs
        looked.append(len(text) // 100)
        return is_plain(text)

    def laid_out(text: str, char: int, cell: int) -> object:
        looked.append(len(text) // 100 if is_plain(text) else len(text))
        return lay_out(text, char, cell)

    monkeypatch.setattr(source_module, "is_plain", plain)
    monkeypatch.setattr(source_module, "_lay_out", laid_out)
    return looked


@pytest.mark.parametrize(
    "piece",
    [b"x", b"ab\t\x1b", "漢e\u0301\u202e".encode(), b"\xff ", b"    "],
    ids=["plain", "tabs", "wide", "bytes", "blanks"],
)
async def test_ten_megabytes_in_one_line_cost_a_key_a_few_chunks(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, piece: bytes
) -> None:
    source = Source(piece * (10_000_000 // len(piece)), budget_s=0.05)
    pattern = compile_pattern("b|\u202e", regex=True)
    assert pattern is not None
    hits = find(source, pattern, seconds=60.0)
    async with running(make_app(workspace, engine=None), (90, 24)) as app:
        view = app.compare.panes[0].view
        view.show(source)
        view.color(read("a.py", source), syntax_styles(tones_of(view.app)))
        view.search(hits[:20_000])
        looked = counted(monkeypatch)
        for action in (
            "slide(8)",
            "slide_edge(1)",
            "whitespace",
            "slide_edge(0)",
            "wrap",
            "page(1)",
            "page(1)",
            "edge(1)",
            "hit(1)",
            "select",
            "fold",
            "wrap",
        ):
            looked.clear()
            name, _, argument = action.rstrip(")").partition("(")
            call = getattr(view, f"action_{name}")
            call(int(argument)) if argument else call()
            raw(view)
            assert sum(looked) <= BUDGET, action
        before = app.app.clipboard
        view.action_copy()
        assert app.app.clipboard == before


def test_a_search_goes_through_a_giant_line_in_pieces_and_finds_each_match_once() -> None:
    source = Source((b"needle" + b"." * 994) * 1000 + b"\nneedle")
    pattern = compile_pattern("needle", regex=False)
    assert pattern is not None
    assert find(source, pattern) == [*(Hit(0, n * 1000, n * 1000 + 6) for n in range(1000)), Hit(1, 0, 6)]
    for text, hits in (("^needle", 2), ("needle$", 1), (r"needle\.{1500}", 0), ("(?<=d)le", 1001)):
        pattern = compile_pattern(text, regex=True)
        assert pattern is not None
        assert len(find(source, pattern)) == hits, text


def deep() -> Iterator[tuple[str, bytes]]:
    yield (
        "a.py",
        "".join("    " * n + f"def f{n}():\n" for n in range(200)).encode() + b"    " * 200 + b"pass\n",
    )
    yield "a.py", b"x = " + b"(" * 20_000 + b"\n" + b")" * 20_000
    yield "a.py", b"x = " + b"[" * 5_000 + b"\n" + b"]" * 5_000 + b"\n"
    yield "a.cu", b"int f() {" + b"{\n" * 3_000 + b"}\n" * 3_000
    yield "a.cu", b"#if 1\n" * 3_000
    yield "a.json", b"[" * 5_000


@pytest.mark.parametrize(("name", "data"), list(deep()))
def test_nesting_as_deep_as_a_file_is_long_is_read_folded_and_drawn(name: str, data: bytes) -> None:
    source = Source(data)
    highlight = read(name, source)
    assert isinstance(highlight, Highlight)
    for line in (0, len(source) // 2, len(source) - 1):
        if highlight.syntax is not None:
            fold = fold_at(highlight.syntax, line, 0)
            assert fold is None or fold[0] <= line
        if highlight.highlighter is not None:
            highlight.highlighter.styles(line)


async def test_names_of_files_and_models_reach_no_message_and_no_title_raw(workspace: Workspace) -> None:
    evil = "e\x1b]52;c;SEVMTE8=\x07\u202e[bold]\\"
    folder = workspace.root / "submissions" / "alpha" / "kv"
    (folder / f"{evil}.py").write_text("def f():\n    pass\n")
    (folder / "submission.toml").write_text('model = "M\\u001b]0;owned\\u0007\\u202e[red]"\n')
    async with running(make_app(workspace, engine=None)) as app:
        app.compare.panes[0].open(f"{evil}.py")
        await app.until(lambda: app.compare.panes[0].settled)
        for keys in (
            ["o"],
            ["f"],
            ["a", "f2", "x"],
            ["colon"],
            ["s", "enter"],
            ["b", "apostrophe"],
            ["L"],
            ["slash"],
        ):
            await app.press(*keys)
            await app.pilot.pause()
            for strip in app.app.screen._compositor.render_strips():
                assert harmless(strip.text), (keys, strip.text)
            await app.press("escape", "escape")
        out = io.StringIO()
        Console(file=out, force_terminal=True).print(app.text(), markup=False)
        assert "\x1b]" not in out.getvalue()


async def test_messages_carry_nothing_raw(workspace: Workspace) -> None:
    evil = "e\x1b]52;c;SEVMTE8=\x07\u202e\x9b31m"
    app = make_app(workspace, engine=None)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        app.notify(f"Missing: {evil}\nSecond line.", title=evil, markup=False)
        assert app.compare is not None
        app.compare.panes[0].view.notify(evil, markup=False)
        await pilot.pause(0.3)
        texts = [strip.text for strip in app.screen._compositor.render_strips()]
        assert any("Missing: e␛" in text for text in texts)
        assert any("Second line." in text for text in texts)
        assert all(map(harmless, texts))
    app.close_session()
