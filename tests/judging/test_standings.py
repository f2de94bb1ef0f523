"""Standings: every figure says what it rests on, and where nothing can be said, a sentence does."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from judge_tui.judging.blind import BlindMark
from judge_tui.judging.matchup import TIE, Matchup, Matchups, save_matchups
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.summaries.gathered import gathered
from judge_tui.judging.summaries.parts import Heading, Intervals, Part, Prose, Report, Table
from judge_tui.judging.summaries.standings import standings
from judge_tui.judging.workspace import Workspace
from judge_tui.reports.rendering import html, markdown

ROOT = Path(__file__).parents[2]
MODELS = ("glm5", "kimi", "qwen36")
JUDGES = tuple(f"judge{at}" for at in range(12))


def _score(
    workspace: Workspace,
    model: str,
    judge: str,
    score: int,
    comment: str = "",
    side: str = "",
    hour: int = 10,
) -> None:
    card, stamp = workspace.scorecard("kv", model, judge)
    card = card.with_score("correctness", score).with_score("code_quality", score)
    card = card.with_comment("correctness", comment)
    card = card.judged_under(workspace.rubric("kv"), workspace.submission(model, "kv").digest)
    if side:
        moment = datetime(2026, 3, 1, hour, tzinfo=UTC)
        mark = BlindMark(began=moment, revealed=moment, side=side, scores=card.given)
        card = replace(card, blind=mark)
    save_scorecard(workspace.scorecard_path("kv", model, judge), card, stamp)


def _decide(workspace: Workspace, judge: str, *words: Matchup) -> None:
    save_matchups(workspace.matchups_path("kv", judge), Matchups("kv", judge, words), None)


@pytest.fixture
def judged(workspace: Workspace) -> Workspace:
    """Twelve judges: qwen36 is 20 points ahead of two that are alike, and sits left for half of them."""
    for at, model in enumerate(MODELS):
        folder = workspace.root / "submissions" / model / "kv"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kv_cache.py").write_text("x = 1\n\n" * 10 * (at + 1))
    for at, judge in enumerate(JUDGES):
        left = at % 2 == 0
        _score(workspace, "qwen36", judge, 85 + at % 3, "Right.", "A" if left else "B")
        _score(workspace, "glm5", judge, 66 - at % 3, "Wrong." if at else "All wrong.", "B" if left else "A")
        _score(workspace, "kimi", judge, 64 + at % 4)
        tied = Matchup(("glm5", "kimi"), TIE if at % 2 else "glm5" if at % 4 else "kimi")
        _decide(workspace, judge, Matchup(("glm5", "qwen36"), "qwen36"), tied)
    return workspace


def _made(workspace: Workspace, *models: str) -> Report:
    return standings(gathered(workspace, models, ["kv"]))


def _under(report: Report, anchor: str) -> list[Part]:
    """The parts below a heading."""
    at = next(n for n, part in enumerate(report.parts) if isinstance(part, Heading) and part.anchor == anchor)
    rest = report.parts[at + 1 :]
    end = next((n for n, part in enumerate(rest) if isinstance(part, Heading)), len(rest))
    return list(rest[:end])


def _rows(part: Part) -> list[list[str]]:
    assert isinstance(part, Table)
    return [[cell.text for cell in row] for row in part.rows]


def _prose(parts: list[Part]) -> str:
    return " ".join(part.text for part in parts if isinstance(part, Prose))


def test_models_that_cannot_be_told_apart_share_a_rank(judged: Workspace) -> None:
    for anchor in ("ranking-matchups", "ranking-points"):
        ranking, plot, apart, *_ = _under(_made(judged), anchor)
        assert isinstance(plot, Intervals)
        ranks = {row[1]: row[0] for row in _rows(ranking)}
        assert ranks["qwen36"] == "1"
        assert ranks["glm5"] == ranks["kimi"] == "2"
        assert all(row[-1] == ("24" if anchor == "ranking-points" or row[1] == "glm5" else "12")
                   for row in _rows(ranking))  # fmt: skip
        assert isinstance(ranking, Table)
        assert "n = " in ranking.caption
        set_off = {row[0].text for row in apart.rows if row[1].strong} if isinstance(apart, Table) else set()
        assert {name for name in set_off if "qwen36" not in name} == set()


def test_the_win_matrix_has_counts_and_ties(judged: Workspace) -> None:
    matrix = _under(_made(judged), "ranking-matchups")[3]
    assert sorted(_rows(matrix)) == [
        ["glm5", "–", "3 + 6 ties", "0"],
        ["kimi", "3 + 6 ties", "–", "0"],
        ["qwen36", "12", "0", "–"],
    ]
    assert isinstance(matrix, Table)
    assert matrix.caption.endswith("n = 24.")


def test_differences_have_an_interval_a_p_and_n(judged: Workspace) -> None:
    table = _under(_made(judged), "differences")[0]
    rows = {row[0]: row[1:] for row in _rows(table)}
    name = next(name for name in rows if "qwen36" in name and "glm5" in name)
    assert rows[name][0].lstrip("−+") == "21.0"
    assert rows[name][2] == "< 0.001"
    assert rows[name][3] == "12"


def test_agreement_is_told_per_dimension_and_too_few_submissions_have_no_alpha(judged: Workspace) -> None:
    parts = _under(_made(judged), "agreement")
    table = _rows(parts[0])
    assert [row[0] for row in table] == ["Correctness", "Code | Quality", "Points"]
    assert {(row[1], row[4], row[5]) for row in table} == {("–", "12", "3")}
    assert "alpha says nothing" in _prose(parts)


def test_the_widest_cells_have_both_scores_and_comments(judged: Workspace) -> None:
    _score(judged, "glm5", "judge0", 96, "All right.")
    table = _rows(_under(_made(judged), "agreement")[2])
    assert len(table) == 5
    assert table[0][1] == "glm5"
    assert table[0][3].startswith("64 (judge11): ")
    assert {row[4] for row in table[:2]} == {"96 (judge0): All right.", "96 (judge0): no comment"}
    assert table[0][5] == "32"


def test_two_judges_scores_are_set_apart(judged: Workspace) -> None:
    found = gathered(judged, [], ["kv"], ["judge0", "judge1"])
    parts = _under(standings(found), "agreement")
    assert _rows(parts[3])[0][0] == "judge0 − judge1"
    assert _rows(parts[3])[0][-1] == "3"
    assert "judge0 − judge1: n = 3: fewer than 6" in _prose(parts)


def test_seats_are_read_from_revealed_blind_cards(judged: Workspace) -> None:
    told = _prose(_under(_made(judged), "seats"))
    assert "The left side won 50% of n = 12 blind draws" in told
    assert "n = 12 blind draws (95 % interval −" in told
    assert "p 1.000" in told


def test_cards_that_held_scores_before_tell_nothing_of_seats(judged: Workspace) -> None:
    for judge in JUDGES:
        card, stamp = judged.scorecard("kv", "glm5", judge)
        assert card.blind is not None
        known = replace(card, blind=replace(card.blind, known=True))
        save_scorecard(judged.scorecard_path("kv", "glm5", judge), known, stamp)
    assert "n = 0" in _prose(_under(_made(judged), "seats"))


def test_length_is_told_in_points_for_twice_the_lines(judged: Workspace) -> None:
    told = _prose(_under(_made(judged), "length"))
    assert "Twice the lines go with +" in told
    assert "n = 36 scores of 12 tasks as judges saw them" in told


@pytest.mark.parametrize("models", [(), ("glm5",), ("glm5", "qwen36")])
def test_one_judge_is_enough_for_sentences(workspace: Workspace, models: tuple[str, ...]) -> None:
    _score(workspace, "glm5", "anna", 70)
    report = _made(workspace, *models)
    assert not [part for part in report.parts if isinstance(part, Table)]
    for anchor in ("ranking-matchups", "ranking-points", "differences", "agreement", "seats", "length"):
        assert _prose(_under(report, anchor))


def test_models_that_were_never_compared_are_told_by_their_titles(judged: Workspace) -> None:
    for model in ("x", "y"):
        (judged.root / "submissions" / model / "kv").mkdir(parents=True)
        (judged.root / "submissions" / model / "kv" / "kv.py").write_text("x = 1\n")
        _score(judged, model, "zoe", 70)
    _decide(judged, "zoe", Matchup(("x", "y"), "x"))
    told = _prose(_under(_made(judged), "ranking-matchups"))
    assert told.startswith("These groups cannot be ranked, since nobody has compared across them: ")
    assert "; x, y." in told


def test_published_words_say_nothing_of_the_length_of_files_here() -> None:
    workspace = Workspace.find(explicit=ROOT)
    report = standings(gathered(workspace, [], list(workspace.tasks())))
    assert "other files" in _prose(_under(report, "length"))
    assert isinstance(report.parts[0], Prose)


def test_the_same_words_make_the_same_report(judged: Workspace) -> None:
    one, other = _made(judged), _made(judged)
    assert one == other
    assert markdown(one, None) == markdown(other, None)
    assert "standings" in one.shape
    assert "<table" in html(one, None)


def test_numpy_is_loaded_by_the_call_and_not_before() -> None:
    code = (
        "import sys; from judge_tui.judging.summaries.standings import standings; "
        "print({'numpy', 'scipy', 'krippendorff'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"


def test_figures_on_files_that_have_changed_since_are_marked(judged: Workspace) -> None:
    qwen = judged.submission("qwen36", "kv").digest
    _decide(judged, "one more", Matchup(("glm5", "qwen36"), "qwen36", submissions={"qwen36": qwen}))
    assert "†" not in markdown(_made(judged))
    (judged.root / "submissions" / "qwen36" / "kv" / "kv_cache.py").write_text("x = 2\n")
    report = _made(Workspace.at(judged.root))
    told = _prose(list(report.parts[:1]))
    assert told == "† The files have changed since they were scored or compared."
    by_points = {row[1] for row in _rows(_under(report, "ranking-points")[0])}
    assert by_points == {"glm5", "kimi", "qwen36 †"}
    assert {row[1] for row in _rows(_under(report, "ranking-matchups")[0])} == {"glm5 †", "kimi", "qwen36 †"}
    assert [row[0] for row in _rows(_under(report, "differences")[0])] == [
        "glm5 − kimi", "glm5 − qwen36 †", "kimi − qwen36 †",
    ]  # fmt: skip
    widest = next(p for p in _under(report, "agreement") if isinstance(p, Table) and p.head[3] == "Lower")
    marks = {row[1]: "†" in row[3] for row in _rows(widest)}
    assert marks == {"glm5": False, "kimi": False, "qwen36": True}


def test_each_judges_points_stand_apart(judged: Workspace) -> None:
    parts = _under(_made(judged), "agreement")
    table = next(part for part in parts if isinstance(part, Table) and part.head[:2] == ("Task", "Model")
                 and part.head[2] == "judge0")  # fmt: skip
    assert table.head[2:] == tuple(sorted(JUDGES))
    rows = {row[1]: row[2:] for row in _rows(table)}
    assert rows["qwen36"][0] == "85"
    assert rows["glm5"][table.head.index("judge2") - 2] == "64"
    assert table.caption.endswith("n = 3.")
