"""The repository's own data: published scorecards and matchups, rubrics, and the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.card import computed_overall
from judge_tui.judging.export import export_scoreboard
from judge_tui.judging.matchup import load_matchups, render_matchups
from judge_tui.judging.scorecard import load_scorecard, render_scorecard
from judge_tui.judging.workspace import Workspace

ROOT = Path(__file__).parents[2]
CARDS = sorted(ROOT.glob("scores/*/*/deepseek-v4-pro.toml"))


@pytest.fixture(scope="module")
def repo() -> Workspace:
    return Workspace.find(explicit=ROOT)


def test_published_cards_are_written_as_the_program_writes_them(repo: Workspace) -> None:
    cards = [path for path in CARDS if path.parent.name != "matchups"]
    assert len(cards) >= 19
    for path in cards:
        assert render_scorecard(load_scorecard(path)) == path.read_text(), path


def test_published_cards_are_scored_elsewhere_and_fit_their_rubrics(repo: Workspace) -> None:
    for task in repo.tasks():
        rubric = repo.rubric(task)
        for card in repo.scorecards(task):
            if card.judge != "deepseek-v4-pro":
                continue
            assert card.scored_elsewhere
            assert set(card.dimensions) <= {dimension.id for dimension in rubric.dimensions}
            assert card.grade is None or card.grade in {grade.letter for grade in rubric.grades}
            mean = computed_overall(card, rubric)
            assert card.overall is None or mean is None or card.overall == mean or card.overall_reason


def test_published_matchups_name_models_of_the_workspace(repo: Workspace) -> None:
    for path in ROOT.glob("scores/*/matchups/*.toml"):
        for matchup in load_matchups(path).matchups:
            assert set(matchup.models) <= set(repo.models()), path
            assert matchup.winner in {None, "tie", "split", *matchup.models}


def test_published_matchups_lose_nothing_when_the_program_saves_them() -> None:
    paths = sorted(ROOT.glob("scores/*/matchups/*.toml"))
    assert len(paths) == 6
    for path in paths:
        assert render_matchups(load_matchups(path)) == path.read_text(), path


@pytest.mark.parametrize(
    ("name", "model"),
    [("minimax", "minimax-m2.7"), ("kimi", "kimi-k2.6"), ("qwen3-6", "qwen36"), ("qwen3.6-27b", "qwen36")],
)
def test_the_models_answer_to_the_names_of_the_analyses(repo: Workspace, name: str, model: str) -> None:
    assert repo.model(name) == model


def test_the_readme_shows_the_present_scoreboard(repo: Workspace) -> None:
    readme = (ROOT / "README.md").read_bytes()
    assert export_scoreboard(readme, repo) == readme
