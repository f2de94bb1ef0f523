"""Blind judging: no name on any screen before the reveal, all names after it, and what the scorecards say."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import load_scorecard, render_scorecard
from judge_tui.judging.workspace import CONFIG, Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.code.source import Source
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.screens.evidence import EvidenceScreen
from judge_tui.tui.screens.home import HomeScreen
from judge_tui.tui.screens.question import Question, TheirsQuestion
from judge_tui.tui.widgets.code_pane import CodePane

from .conftest import Driver, running
from .hostile_names import MODELS, TALKING, make_hostile, names_in

SCORED = ("s", "c", "8", "5", "t", "7", "0", "w", "c", "6", "0", "t", "9", "0")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))
    return make_hostile(tmp_path / "ws")


def make_app(
    workspace: Workspace, *, blind: bool = True, engine: str = TALKING, judge: str = "anna"
) -> JudgeApp:
    options = EngineOptions(command=(sys.executable, "-c", engine.replace("END", "")))
    submissions = [workspace.submission(model, "kv") for model in MODELS]
    return JudgeApp(workspace, submissions, judge, options, clock=lambda _: "12:00:00", blind=blind)


#: Parts of the app, and what leads there: actions of code, checks, rubric or screen, and keys.
WALK: Sequence[tuple[str, ...]] = (
    ("code",),
    ("sideways", "code:edge(1)", "code:slide(60)"),
    ("to the end of a line", "code:edge(0)", "code:slide_edge(1)"),
    ("wrapped", "code:slide_edge(0)", "code:wrap"),
    ("folded", "code:wrap", "code:fold_all"),
    ("one pane", "code:fold_all", "alone"),
    ("files", "alone", "files"),
    ("symbols", "symbols"),
    ("another file", "file(1)"),
    ("and back", "file(-1)"),
    ("search", "search", "key:k", "key:e"),
    ("search for a name", "search", "key:q", "key:w", "key:e", "key:n"),
    ("definition", "code:edge(1)", "definition"),
    ("line prompt", "line"),
    ("bookmarks", "code:edge(1)", "bookmark", "bookmarks"),
    ("following", "sync", "sync", "code:symbol(-1)"),
    ("difference", "code:edge(1)", "diff"),
    ("copied", "code:copy"),
    ("checks", "checks"),
    ("evidence", "checks:edge(0)", "checks:open"),
    ("evidence to its end", "checks:open", "key:G"),
    ("curve in full", "checks:edge(0)", "checks:open", "key:v"),
    ("differing checks", "checks:differ"),
    ("jumped", "checks:jump"),
    ("note", "note", "key:w", "key:Q", "key:w", "key:e", "key:n"),
    ("notes", "notes"),
    ("edited note", "notes", "key:e"),
    ("rubric", "score"),
    ("comment", "rubric:edit", "key:G", "key:L", "key:M"),
    ("matchup", "matchup"),
    ("line of the matchup", "matchup", "key:a", "key:g", "key:l", "key:m"),
    ("too early", "reveal", "settle", "save"),
    ("help", "help"),
    ("palette", "app.command_palette"),
)
#: What says nothing of a submission, and notes that nobody has typed.
SILENT = {"help", "palette", "notes"}
SCREENS = {
    "CompareScreen", "Picker", "LinePrompt", "DiffScreen", "EvidenceScreen", "DifferencesScreen",
    "NoteEditor", "NotesList", "TextEditor", "MatchupScreen", "CriterionEditor", "HelpScreen",
    "CommandPalette", "PlotScreen",
}  # fmt: skip


async def walk(driver: Driver, parts: Sequence[tuple[str, ...]] = WALK) -> dict[str, list[str]]:
    """Names by the part of the app that they stand in."""
    await driver.settle()
    compare = driver.compare
    nodes = {
        "code": compare.panes[0].view,
        "checks": compare.checks_pane.rows,
        "rubric": compare.rubric_pane.lines,
    }
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for name, *steps in parts:
        for step in steps:
            node, _, action = step.rpartition(":")
            if node == "key":
                await driver.press(action)
            else:
                await driver.app.run_action(action, nodes.get(node, compare))
                await driver.until(lambda: all(pane.settled for pane in compare.panes))
        found[name] = names_in(driver.text()) + names_in(driver.app.clipboard)
        driver.app._clipboard = ""
        seen.add(type(driver.app.screen).__name__)
        while driver.app.screen is not compare or compare.query("#search"):
            await driver.press("escape")
    assert seen == SCREENS or parts is not WALK
    return found


async def test_no_part_of_the_screen_shows_a_name_before_the_reveal(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        found = await walk(driver)
        assert {name: names for name, names in found.items() if names} == {}
        assert "blind" in driver.text()


async def test_the_same_walk_finds_names_when_the_judge_is_not_blind(workspace: Workspace) -> None:
    async with running(make_app(workspace, blind=False)) as driver:
        # typing takes long, and shows no more
        parts = [part for part in WALK if not any(step.startswith("key:") for step in part)]
        found = await walk(driver, parts)
        assert {name for name, names in found.items() if names} >= {name for name, *_ in parts} - SILENT


async def test_the_veil_alone_lets_no_name_out_either(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bare(pane: CodePane, file: str) -> Source:
        return Source(pane.submission.read_bytes(file))

    monkeypatch.setattr(CodePane, "_source", bare)
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        assert names_in(driver.compare.panes[0].source.text)
        assert names_in(driver.text()) == []
        driver.compare.notify("kept in /ws/qwen36/kv", title="glm5", markup=False)
        await driver.press("v", "J", "J", "Y")
        assert driver.app.clipboard
        assert names_in(driver.app.clipboard) == []
        told = [(message.title, message.message) for message in driver.app._notifications]
        assert len(told) == 2
        assert names_in(str(told)) == []


async def test_a_search_for_a_name_finds_nothing(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("slash", *"cache")
        await driver.until(lambda: "A 0" not in driver.text() and "found" in driver.text())
        await driver.press(*["backspace"] * 5, *"glm")
        await driver.until(lambda: [pane.counts for pane in driver.compare.panes] == ["0 found"] * 2)


async def test_masked_code_keeps_its_columns_colours_and_outline(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        pane = driver.compare.panes[0]
        shown, bare = pane.source, pane.source.bare
        assert [len(line) for line in shown.lines] == [len(line) for line in bare.lines]
        assert [symbol.name for symbol in pane.view.symbols if symbol.kind == "function"][-1] == "shared"
        line = next(n for n, text in enumerate(bare.lines) if text.startswith("def ") and "attend" in text)
        highlighter = pane.view.highlight.highlighter
        assert highlighter is not None
        styles = highlighter.styles(line)
        assert styles is not None
        # a name that is covered is coloured as the one function name that it is
        assert len(set(styles[4 : bare.lines[line].index("(")])) == 1


async def test_a_note_quotes_the_file_as_it_is(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("g", "a", "f3", "x", "escape")
        session = driver.compare.session
        [note] = session.notes(0)
        assert note.quote == driver.compare.panes[0].source.bare.lines[0]
        assert names_in(note.quote)
        assert driver.compare.panes[0].view._marks[0].style == "warning"


async def test_evidence_leads_to_a_file_with_a_name_in_its_name(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("c", "g", "enter")
        assert isinstance(driver.app.screen, EvidenceScreen)
        await driver.press("o")
        pane = driver.compare.panes[driver.compare.panes.at]
        assert pane.file == f"{pane.submission.model}_kv.py"
        assert pane.view.cursor == 17


async def test_what_cannot_be_saved_and_an_engine_that_dies_name_nobody(workspace: Workspace) -> None:
    dying = "import sys; sys.stdin.readline(); sys.stderr.write('glm5 and Qwen broke\\n'); sys.exit(3)"
    async with running(make_app(workspace, engine=dying)) as driver:
        await driver.until(lambda: "ended unexpectedly" in driver.text())
        (workspace.root / "scores" / "kv").write_text("in the way")
        await driver.press("s", "c", "8")
        await driver.until(lambda: "NOT SAVED" in driver.text())
        await driver.until(lambda: driver.app._notifications)
        assert names_in(driver.text()) == []
        assert any(names_in(message) for message in driver.compare.parts.saving.failed.values())
    assert driver.app.unsaved
    assert names_in("".join(driver.app.unsaved)) == []


async def test_the_reveal_is_asked_for_once_everything_is_scored_and_shows_the_names_everywhere(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("f9")
        assert driver.app.screen is driver.compare
        await driver.until(lambda: any("4 scores are left" in n.message for n in driver.app._notifications))
        await driver.press(*SCORED)
        await driver.until(lambda: "all scored: f9 reveals" in driver.text())
        await driver.press("f9")
        assert isinstance(driver.app.screen, Question)
        assert "cannot be taken back" in driver.text()
        await driver.press("escape")
        assert names_in(driver.text()) == []
        await driver.press("f9", "r")
        await driver.until(lambda: all(pane.settled for pane in driver.compare.panes))
        driver.app.clear_notifications()
        await driver.press("A")
        lines = driver.text().split("\n")
        assert "GLM-5" in lines[0]
        assert "Qwen3-6" in lines[0]
        assert "names revealed" in lines[0]
        assert "▒" not in driver.text()
        assert set(names_in(driver.text())) >= {"glm", "GLM", "qwen", "Qwen"}
        await driver.press("c", "g", "enter")
        assert names_in(driver.text())
        session = driver.compare.session
        session.flush()
        for index, path in enumerate(session.paths):
            mark = load_scorecard(path).blind
            assert mark is not None
            assert (mark.side, mark.revealed is not None) == ("AB"[index], True)


async def test_what_another_window_wrote_is_asked_about_without_a_name(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("s", "c", "8", "0")
        session = driver.compare.session
        session.flush()
        path = session.paths[0]
        theirs = (
            load_scorecard(path)
            .with_note(new_note("bug", "counts slowly, says Qwen3-6"))
            .with_score("tests", 7)
        )
        path.write_text(render_scorecard(theirs))
        driver.compare.parts.watching.disk_changed(frozenset({path}))
        await driver.press("u", "u")
        assert isinstance(driver.app.screen, TheirsQuestion)
        assert "Not your change" in driver.text()
        assert "slowly" in driver.text()
        assert names_in(driver.text()) == []


async def test_scores_given_under_the_names_before_are_warned_of(workspace: Workspace) -> None:
    async with running(make_app(workspace, blind=False)) as driver:
        await driver.press("s", "8", "5")
        assert not driver.app._notifications
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.until(lambda: driver.app._notifications)
        [told] = driver.app._notifications
        assert "scored before, under the names" in told.message
        # one of the two, wherever it was seated
        assert told.message[0] in "AB"
        assert told.message[1] == ":"


async def test_the_list_of_past_comparisons_does_not_tell_who_sat_where(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("B")
        past = driver.compare.whereabouts()
        assert past.models == tuple(sorted(MODELS))
        assert past.place is None
        assert set(past.places) == set(MODELS)


async def test_home_opens_comparisons_blind_where_that_is_the_rule(workspace: Workspace) -> None:
    config = workspace.root / CONFIG
    config.write_text(config.read_text().replace("[blind]", "[blind]\nalways = true"))
    there = Workspace.find(explicit=workspace.root)
    app = JudgeApp(there, (), "anna", EngineOptions(command=None))
    async with running(app) as driver:
        assert driver.app.home is not None
        driver.app.home.post_message(HomeScreen.Asked("kv", MODELS))
        await driver.until(lambda: driver.app.compare is not None and driver.app.compare.is_current)
        await driver.until(lambda: all(pane.settled for pane in driver.compare.panes))
        assert names_in(driver.text()) == []
        await driver.press("q")
        await driver.until(lambda: driver.app.home is not None and driver.app.home.is_current)
        # no veil over what is not compared
        await driver.until(lambda: names_in(driver.text()))
