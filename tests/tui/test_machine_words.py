"""A language model's score is told to a judge who has scored the same, and never before."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from judge_tui.judging.card import MACHINE, Scorecard
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions

from .conftest import make_app, running

TOLD = "gpt, a language model: 42"


@pytest.fixture
def judged(workspace: Workspace) -> Workspace:
    _said(workspace, "gpt", workspace.submission("alpha", "kv").digest)
    return workspace


def _said(workspace: Workspace, judge: str, digest: str) -> None:
    card = Scorecard("kv", "alpha", judge, submission=digest, judge_kind=MACHINE)
    card = card.with_score("correctness", 42).with_comment("correctness", "Off by one.")
    save_scorecard(workspace.scorecard_path("kv", "alpha", judge), card, None)


async def test_it_shows_once_the_judge_has_scored(judged: Workspace) -> None:
    async with running(make_app(judged)) as app:
        await app.settle()
        await app.press("s")
        assert TOLD not in app.text()
        await app.press("c", "9")
        assert TOLD not in app.text(), "a first digit is no score"
        await app.press("0", "c")
        assert TOLD in app.text()
        assert "– Off" in app.text()
        await app.press("u")
        assert TOLD not in app.text()


async def test_what_was_said_of_other_files_is_not_told(workspace: Workspace) -> None:
    _said(workspace, "gpt", "sha256:other")
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("s", "c", "9", "0", "c")
        assert TOLD not in app.text()


async def test_a_person_is_not_told_of_and_neither_is_anybody_while_names_are_hidden(
    judged: Workspace,
) -> None:
    path = judged.scorecard_path("kv", "alpha", "ben")
    card, _ = judged.scorecard("kv", "alpha", "gpt")
    save_scorecard(path, replace(card, judge="ben", judge_kind="person"), None)
    submissions = [judged.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(judged, submissions, "anna", EngineOptions(), blind=True)) as app:
        await app.press("s", "c", "9", "0", "w", "c", "9", "0", "c")
        assert "language model" not in app.text()
    async with running(make_app(judged)) as app:
        await app.settle()
        await app.press("s", "c", "9", "0", "c")
        assert "ben" not in app.text()
