"""Language models as judges: their words stand apart from those of people, and count in no figure there."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from judge_tui.judging.blind import BlindMark
from judge_tui.judging.card import MACHINE, Scorecard
from judge_tui.judging.export import BEGIN, END, scoreboard_markdown
from judge_tui.judging.matchup import TIE, Matchup, Matchups, save_matchups
from judge_tui.judging.note import new_note
from judge_tui.judging.publishing import publish
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.summaries.gathered import gathered
from judge_tui.judging.summaries.parts import Table
from judge_tui.judging.workspace import Workspace
from judge_tui.reports.rendering import markdown


def _card(workspace: Workspace, model: str, judge: str, score: int, *, machine: bool) -> None:
    card = Scorecard("kv", model, judge, submission=workspace.submission(model, "kv").digest)
    card = card.with_score("correctness", score).with_overall(score)
    if machine:
        card = replace(card, judge_kind=MACHINE)
    save_scorecard(workspace.scorecard_path("kv", model, judge), card, None)


@pytest.fixture
def judged(workspace: Workspace) -> Workspace:
    for model, own, other in (("glm5", 60, 90), ("qwen36", 80, 50)):
        _card(workspace, model, "anna", own, machine=False)
        _card(workspace, model, "gpt", other, machine=True)
    for judge, winner in (("anna", "qwen36"), ("gpt", "glm5")):
        word = Matchup(("glm5", "qwen36"), winner, 5, f"As {judge} says.")
        save_matchups(workspace.matchups_path("kv", judge), Matchups("kv", judge, (word,)), None)
    return workspace


def test_a_machine_counts_in_no_figure_of_people(judged: Workspace) -> None:
    found = gathered(judged, (), ["kv"])
    assert {model: one.points for model, one in found.tasks["kv"].judged.items()} == {
        "glm5": 60,
        "qwen36": 80,
    }
    assert found.judges == ("anna", "gpt (language model)")
    assert [judge for judge, _ in found.tasks["kv"].matchups] == ["anna"]


@pytest.mark.parametrize("shape", ["round", "head-to-head", "two-way"])
def test_it_stands_beside_them(judged: Workspace, shape: str) -> None:
    report = report_of(judged, Asked(shape))
    (table,) = [part for part in report.parts if isinstance(part, Table) and part.head[0] == "Language model"]
    assert sorted(cell.text.split()[0] for row in table.rows for cell in row) == ["50", "90", "gpt"]


@pytest.mark.parametrize("shape", ["round", "head-to-head", "two-way"])
def test_what_it_noted_stands_apart_with_its_lines(judged: Workspace, shape: str) -> None:
    card, stamp = judged.scorecard("kv", "glm5", "gpt")
    note = new_note(
        "bug", "It leaks.", file="kv_cache.py", lines=(2, 3), source="a\nclass Cache:\n    pass\n"
    )
    save_scorecard(judged.scorecard_path("kv", "glm5", "gpt"), replace(card, notes=(note,)), stamp)
    text = markdown(report_of(judged, Asked(shape)))
    assert text.index("By language models, apart from the judges:") < text.index("It leaks.")
    assert "        2» class Cache:" in text


def test_what_it_has_scored_so_far_is_told(judged: Workspace) -> None:
    card, stamp = judged.scorecard("kv", "glm5", "gpt")
    save_scorecard(judged.scorecard_path("kv", "glm5", "gpt"), card.with_overall(None), stamp)
    report = report_of(judged, Asked("head-to-head"))
    (table,) = [part for part in report.parts if isinstance(part, Table) and part.head[0] == "Language model"]
    assert "1 of 2" in [cell.text for row in table.rows for cell in row]


def test_two_machines_are_set_against_each_other_by_their_names(judged: Workspace) -> None:
    for model, score in (("glm5", 70), ("qwen36", 60)):
        _card(judged, model, "claude", score, machine=True)
    report = report_of(judged, Asked("standings", judges=("gpt", "claude")))
    (pairs,) = [part for part in report.parts if isinstance(part, Table) and part.head[0] == "Judges"]
    assert pairs.rows[0][0].text == "claude (language model) − gpt (language model)"


def test_machines_alone_count(judged: Workspace) -> None:
    found = gathered(judged, (), ["kv"], ["gpt"])
    assert {model: one.points for model, one in found.tasks["kv"].judged.items()} == {
        "glm5": 90,
        "qwen36": 50,
    }
    assert found.judges == ("gpt (language model)",)


def test_boards_keep_the_kinds_apart(judged: Workspace) -> None:
    people, machines = scoreboard_markdown(judged).split("**Scored by language models**")
    assert "Judge: anna." in people
    assert "Language model: gpt." in machines
    assert "gpt" not in people
    assert people.index("| qwen36") < people.index("| glm5")
    assert machines.index("| glm5") < machines.index("| qwen36")


def test_the_board_says_who_won_by_how_much_and_why(judged: Workspace) -> None:
    people, machines = scoreboard_markdown(judged).split("**Scored by language models**")
    assert "| **qwen36** +5 | glm5, qwen36 | As anna says. |" in people
    assert "| **glm5** +5 | glm5, qwen36 | As gpt says. |" in machines


def test_a_winner_of_a_blind_comparison_waits_for_the_reveal(judged: Workspace) -> None:
    card, stamp = judged.scorecard("kv", "glm5", "anna")
    path = judged.scorecard_path("kv", "glm5", "anna")
    save_scorecard(path, replace(card, blind=BlindMark(began="2026-03-01")), stamp)
    people, machines = scoreboard_markdown(judged).split("**Scored by language models**")
    assert "As anna says." not in people
    assert "As gpt says." in machines


def test_comparisons_that_disagree_are_both_told(judged: Workspace) -> None:
    card = judged.scorecard("kv", "glm5", "anna")[0]
    for model in ("glm5", "qwen36"):
        path = judged.scorecard_path("kv", model, "ben")
        save_scorecard(path, replace(card, model=model, judge="ben"), None)
    word = Matchup(("glm5", "qwen36"), TIE)
    save_matchups(judged.matchups_path("kv", "ben"), Matchups("kv", "ben", (word,)), None)
    assert "| **qwen36** +5, or tie |" in scoreboard_markdown(judged)


def test_a_malformed_matchup_file_costs_its_winners_alone_and_is_told(judged: Workspace) -> None:
    judged.matchups_path("kv", "anna").write_text("schema = 1\ntask = [")
    readme = judged.root / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    told = publish(readme, judged)
    assert any("matchups/anna.toml:2" in sentence for sentence in told.strays)
    board = readme.read_text()
    assert "As anna says." not in board
    assert "As gpt says." in board
    assert "Judge: anna." in board


def test_a_winner_that_was_decided_on_other_files_says_so(judged: Workspace) -> None:
    digests = {model: judged.submission(model, "kv").digest for model in ("glm5", "qwen36")}
    word = Matchup(("glm5", "qwen36"), "qwen36", 5, submissions=digests)
    path = judged.matchups_path("kv", "anna")
    path.unlink()
    save_matchups(path, Matchups("kv", "anna", (word,)), None)
    assert "| **qwen36** +5 |" in scoreboard_markdown(judged)
    next(judged.submission("glm5", "kv").path.glob("*.py")).write_text("x = 1\n")
    assert "| **qwen36** +5 † |" in scoreboard_markdown(Workspace.at(judged.root))
