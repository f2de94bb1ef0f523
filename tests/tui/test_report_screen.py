"""The report on the screen: every shape, its links, its way to the code, and a file of it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.widgets import Input

from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.workspace import Workspace
from judge_tui.reports.data import as_json
from judge_tui.tui import reporting
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.screens.report import ReportScreen
from judge_tui.tui.screens.report_lines import report_lines

from .at_home import make_home, ready
from .conftest import Driver, make_app, running

ROOT = Path(__file__).parents[2]
SIZES = [(30, 8), (80, 24), (160, 45)]


@pytest.fixture
def scored(workspace: Workspace) -> Workspace:
    for model, score in (("alpha", 70), ("beta", 85)):
        card, stamp = workspace.scorecard("kv", model, "anna")
        submission = workspace.submission(model, "kv")
        note = new_note(
            "bug",
            "No bound is kept.",
            file="kv_cache.py",
            lines=(10, 11),
            source=submission.read_text("kv_cache.py"),
        )
        card = card.with_score("correctness", score).with_overall(score).with_note(note)
        card = card.judged_under(workspace.rubric("kv"), submission.digest)
        save_scorecard(workspace.scorecard_path("kv", model, "anna"), card, stamp)
    return workspace


async def shown(app: Driver, text: str) -> ReportScreen:
    await app.until(lambda: text in app.text())
    assert isinstance(app.app.screen, ReportScreen)
    return app.app.screen


@pytest.mark.parametrize("key", ["B", "R"])
async def test_home_shows_what_was_scored_and_every_shape_is_a_key_away(scored: Workspace, key: str) -> None:
    async with running(make_home(scored)) as app:
        await ready(app)
        await app.press(key)
        await shown(app, "Ranking")
        assert "Beta" in app.text()
        await app.press("tab")
        await shown(app, "Scoreboard")
        await app.press("tab")
        await shown(app, "rounds/<id>.toml")
        await app.press("shift+tab", "shift+tab", "shift+tab")
        await shown(app, "Criteria in which each is ahead")
        await app.press("escape")
        assert not isinstance(app.app.screen, ReportScreen)


async def test_nothing_scored_says_what_is_missing(workspace: Workspace) -> None:
    async with running(make_home(workspace)) as app:
        await ready(app)
        await app.press("B")
        await shown(app, "judge-tui compare")
        await app.press("w")
        assert app.messages() == ["There is no report to write yet."]


async def test_a_link_is_followed_to_the_note_to_its_code_and_into_the_pane(scored: Workspace) -> None:
    async with running(make_app(scored)) as app:
        await app.settle()
        await app.press("R")
        screen = await shown(app, "by scores")
        await app.press("tab")
        await shown(app, "No bound is kept.")
        row = next(
            n for n, line in enumerate(screen.rows.lines) if "No bound" in "".join(t for t, _ in line.spans)
        )
        screen.rows.go(row)
        await app.press("enter")
        line = screen.rows.lines[screen.rows.cursor]
        assert line.anchor == "code-kv-alpha-kv_cache.py-10-11"
        assert line.place == ("Alpha", "kv_cache.py", 10)
        await app.press("less_than_sign")
        assert screen.rows.cursor == row
        await app.press("enter", "j", "j", "j", "j")
        place = screen.rows.lines[screen.rows.cursor].place
        assert place is not None
        await app.press("enter")
        await app.until(lambda: not isinstance(app.app.screen, ReportScreen))
        pane = app.compare.panes[0]
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", place[2] - 1)


async def test_headings_are_gone_to_and_a_link_leads_back(scored: Workspace) -> None:
    async with running(make_home(scored), (80, 24)) as app:
        await ready(app)
        await app.press("B")
        screen = await shown(app, "Ranking")
        await app.press("right_square_bracket", "right_square_bracket")
        rows = [n for n, line in enumerate(screen.rows.lines) if line.heading]
        assert screen.rows.cursor == rows[2 if rows[0] == 0 else 1]
        await app.press("left_square_bracket")
        assert screen.rows.cursor == rows[1 if rows[0] == 0 else 0]
        row = next(n for n, line in enumerate(screen.rows.lines) if line.leads)
        screen.rows.go(row)
        await app.press("enter")
        assert screen.rows.cursor != row
        await app.press("less_than_sign")
        assert screen.rows.cursor == row


async def test_its_title_and_whose_words_it_has_stand_first(scored: Workspace) -> None:
    async with running(make_home(scored)) as app:
        await ready(app)
        await app.press("B")
        screen = await shown(app, "Ranking")
        first, second, *_ = ("".join(text for text, _ in line.spans) for line in screen.rows.lines)
        assert (first.strip(), second.strip()[:12]) == ("Alpha vs Beta", "Judge: anna.")


async def test_rounds_are_a_key_away_and_one_leads_back_to_all(scored: Workspace) -> None:
    async with running(make_home(scored)) as app:
        await ready(app)
        await app.press("B")
        await shown(app, "Ranking")
        await app.press("o")
        assert app.messages() == ["Nobody has written a round: rounds/<id>.toml"]
        (scored.root / "rounds").mkdir()
        for name in ("one", "two"):
            text = f'title = "Round {name}"\n\n[[prose]]\njudge = "anna"\ntext = "All of {name}."\n'
            (scored.root / "rounds" / f"{name}.toml").write_text(text)
        for told in ("All of one.", "All of two."):
            await app.press("o")
            await shown(app, told)
        await app.press("o")
        await shown(app, "Summary: ")
        await app.press("o")
        await shown(app, "All of one.")
        await app.press("tab")
        await shown(app, "Ranking over all rounds")


async def test_a_round_is_begun_and_written_in_the_judges_editor(
    scored: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    change = ["", 'heading = "Why"\n', "x ="]

    def lend(_app: object, command: list[str]) -> None:
        opened.append(command[-1])
        path, told = Path(command[-1]), change.pop(0)
        if told:
            prose = '\n[[prose]]\njudge = "anna"\ntext = "All of it."\n'
            path.write_text(path.read_text() + (prose if len(change) == 1 else "") + told)

    monkeypatch.setattr(TypeAhead, "lend_terminal", lend)
    monkeypatch.setenv("VISUAL", "my-editor")
    path = scored.root / "rounds" / "round-1.toml"
    async with running(make_home(scored)) as app:
        await ready(app)
        await app.press("B")
        await shown(app, "Ranking")
        await app.press("e")
        assert opened == [str(path)]
        assert not path.exists(), "what was not changed is not left behind"
        await app.press("e")
        await shown(app, "All of it.")
        begun = path.read_text()
        assert begun.startswith('title = "Round 1"\ndate = ')
        assert 'models = ["alpha", "beta"]' in begun
        assert '# judge = "anna"' in begun
        await app.press("e")
        await shown(app, "rounds/round-1.toml:")


async def test_without_an_editor_the_file_of_a_round_is_named(
    scored: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lend(_app: object, _command: list[str]) -> None:
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(TypeAhead, "lend_terminal", lend)
    monkeypatch.setenv("VISUAL", "my-editor")
    async with running(make_home(scored)) as app:
        await ready(app)
        await app.press("B")
        await shown(app, "Ranking")
        await app.press("e")
        assert any("cannot be started: No such file; write " in told for told in app.messages())


async def test_what_another_program_wrote_is_read_again(scored: Workspace) -> None:
    async with running(make_home(scored)) as app:
        await ready(app)
        await app.press("B")
        await shown(app, "Ranking")
        path = scored.scorecard_path("kv", "alpha", "anna")
        path.write_text(path.read_text().replace("score = 70", "score = 33"))
        await app.press("r")
        await shown(app, "33")


async def test_what_was_typed_a_moment_ago_is_in_it(scored: Workspace) -> None:
    async with running(make_app(scored)) as app:
        await app.settle()
        await app.press("s", "t", "9", "1", "escape", "R", "tab")
        await shown(app, "91")


async def test_it_is_written_into_a_file_in_the_format_of_its_name(scored: Workspace) -> None:
    async with running(make_home(scored)) as app:
        await ready(app)
        await app.press("B")
        await shown(app, "Ranking")
        begin = {
            ".html": "<!doctype html>",
            ".md": "# ",
            ".json": "{",
            ".jsonl": '{"schema"',
            ".csv": "section",
        }
        for name, begins in ((f"r{end}", begin[end]) for end in reporting.FORMATS):
            await app.press("w")
            app.app.screen.query_one(Input).value = name
            await app.press("enter")
            await app.until(lambda told=f"{name} is written.": told in app.messages())
            assert (scored.root / name).read_text().startswith(begins)
        await app.press("w")
        app.app.screen.query_one(Input).value = "r.doc"
        await app.press("enter")
        await app.until(lambda: any("says no format" in told for told in app.messages()))
        assert not (scored.root / "r.doc").exists()


async def test_a_blind_comparison_shows_none(scored: Workspace) -> None:
    submissions = [scored.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(scored, submissions, "anna", EngineOptions(), blind=True)) as app:
        await app.press("R")
        assert not isinstance(app.app.screen, ReportScreen)
        assert any("once they are revealed" in told for told in app.messages())


def test_statistics_come_from_a_process_of_their_own(
    scored: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = replace(report_of(scored, Asked("head-to-head")), shape="standings")
    ran: list[list[str]] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        ran.append(command)
        return SimpleNamespace(stdout=as_json(report), stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    asked = Asked("standings", ("alpha", "beta"), ("kv",), ("anna",))
    assert reporting.made(scored, asked) == report
    assert ran[0][:6] == [sys.executable, "-P", "-m", "judge_tui.cli", "report", "standings"]
    assert ran[0][-3:] == ["--", "alpha", "beta"]


@pytest.mark.parametrize("size", SIZES)
async def test_every_table_fits_whatever_the_width(workspace: Workspace, size: tuple[int, int]) -> None:
    repository = Workspace.find(explicit=ROOT)
    async with running(make_home(workspace), size) as app:
        tones = tones_of(app.app)
        for shape in ("two-way", "head-to-head", "round", "combined"):
            report = report_of(repository, Asked(shape))
            lines = report_lines(report, size[0], tones)
            assert lines
            wide = [line for line in lines if sum(len(text) for text, _ in line.spans) > max(size[0], 60)]
            # code is as long as it is
            assert not [line for line in wide if line.place is None]
            anchors = {line.anchor for line in lines}
            assert not {lead for line in lines for lead in line.leads} - anchors
