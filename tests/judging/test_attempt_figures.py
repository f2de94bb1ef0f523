"""Figures of several attempts: against values by hand, and on boards and in reports."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from msgspec.structs import replace

from judge_tui.checks.passing import Whole
from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.attempt_figures import Attempt, Attempts, deviation, pass_at, same_answers, table, told
from judge_tui.judging.attempts import several
from judge_tui.judging.card import CheckSeen, Scorecard
from judge_tui.judging.export import scoreboard_markdown
from judge_tui.judging.matchup import Matchup, Matchups, save_matchups
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.summaries.asked import SHAPES, Asked, report_of
from judge_tui.judging.summaries.parts import Heading, Report, Table
from judge_tui.judging.workspace import Workspace

WHOLE = Whole({"loads": 1}, {"cache": ("loads",)})


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))


# by hand: 1 − C(n − c, k) / C(n, k)
@pytest.mark.parametrize(
    ("k", "checked", "passed", "expected"),
    [
        (1, 5, 2, "2/5"),
        (2, 5, 2, "7/10"),  # 1 − 3/10
        (3, 5, 2, "9/10"),  # 1 − 1/10
        (5, 5, 2, "1"),
        (5, 5, 0, "0"),
        (1, 1, 1, "1"),
        (10, 200, 3, "9411/65670"),  # 1 − 6751080/7880400
        (100, 100, 100, "1"),
    ],
)
def test_pass_at_k_is_what_it_is_by_hand(k: int, checked: int, passed: int, expected: str) -> None:
    assert pass_at(k, checked, passed) == pytest.approx(float(Fraction(expected)), abs=1e-12)


@pytest.mark.parametrize("passed", range(6))
@pytest.mark.parametrize("k", range(1, 6))
def test_pass_at_k_is_the_share_of_draws_with_a_pass(k: int, passed: int) -> None:
    draws = list(combinations(range(5), k))
    share = sum(any(each < passed for each in draw) for draw in draws) / len(draws)
    assert pass_at(k, 5, passed) == pytest.approx(share, abs=1e-12)


def test_the_spread_is_that_of_a_sample() -> None:
    # mean 70; squares 100 + 0 + 100, by n − 1 = 2
    assert deviation([60, 70, 80]) == 10.0
    assert deviation([80, 90]) == pytest.approx(50**0.5)
    assert deviation([80]) is None
    assert deviation([]) is None


FIVE = Attempts(
    "glm5",
    "GLM-5",
    "kv",
    (
        Attempt("glm5", 60, True, "a"),
        Attempt("glm5@2", 80, False, "b"),
        Attempt("glm5@3", None, None, "a"),
        Attempt("glm5@4", 70, True, "c"),
        Attempt("glm5@5", None, None, ""),
    ),
)


# the third is the first again and has its points: 60, 80, 60, 70; squares 275 by n − 1 = 3
def test_a_row_tells_best_mean_spread_and_those_without_a_verdict_apart() -> None:
    head, row = table([FIVE])
    assert dict(zip(head, row, strict=True)) == {
        "Model": "GLM-5", "Task": "kv", "Attempts": "5", "Scored": "4 of 5", "Best": "80 (@2)",
        "Mean": "67.5", "Spread": "9.6", "Checked": "3 of 5", "Passed": "2",
        "pass@1": "67 %", "pass@2": "100 %", "pass@3": "100 %", "Same answers": "@3 = @1",
    }  # fmt: skip
    assert " · ".join(told(FIVE)) == (
        "5 attempts · best 80 (@2) · mean 67.5 ± 9.6 (n = 4) · 2 of 3 checked pass · pass@1 67 % · "
        "pass@2 100 % · pass@3 100 % · @3 = @1"
    )


def test_points_of_files_that_are_no_more_are_those_of_no_other_answer() -> None:
    first, again = Attempt("glm5", 60, None, "a", stale=True), Attempt("glm5@2", None, None, "a")
    assert Attempts("glm5", "GLM-5", "kv", (first, again)).points == (60,)
    assert Attempts("glm5", "GLM-5", "kv", (replace(first, stale=False), again)).points == (60, 60)


def test_what_nobody_scored_or_checked_is_neither_0_nor_failed() -> None:
    blank = Attempts("glm5", "GLM-5", "kv", (Attempt("glm5"), Attempt("glm5@2")))
    head, row = table([blank])
    assert dict(zip(head, row, strict=True)) == {
        "Model": "GLM-5", "Task": "kv", "Attempts": "2", "Checked": "0 of 2", "Passed": "–",
    }  # fmt: skip
    assert told(blank) == ["2 attempts", "none checked"]
    assert table([]) == []


def test_an_answer_is_the_same_as_the_first_with_its_files() -> None:
    digests = [("a", "x"), ("a@2", "y"), ("a@3", "x"), ("a@4", ""), ("a@5", ""), ("a@6", "x")]
    assert same_answers(digests) == {"a@3": "a", "a@6": "a"}


def _score(workspace: Workspace, model: str, points: int, verdict: str = "", judge: str = "anna") -> None:
    submission = workspace.submission(model, "kv")
    seen = (CheckSeen("loads", verdict),) if verdict else ()
    card = Scorecard(
        task="kv", model=model, judge=judge, overall=points, submission=submission.digest, checks=seen
    )
    save_scorecard(workspace.scorecard_path("kv", model, judge), card, None)


def _attempt(workspace: Workspace, model: str, number: int, text: str) -> str:
    folder = workspace.submissions / model / f"kv@{number}"
    folder.mkdir()
    (folder / "kv_cache.py").write_text(text)
    return f"{model}@{number}"


@pytest.fixture
def judged(workspace: Workspace) -> Workspace:
    """Two models with one scored answer each."""
    _score(workspace, "glm5", 60, "pass")
    _score(workspace, "qwen36", 75)
    return workspace


@pytest.fixture
def repeated(judged: Workspace) -> Workspace:
    """The same, with three more answers of glm5, one of them the first again; two are scored."""
    Store().remember(judged.submission("glm5", "kv"), WHOLE)
    _score(judged, _attempt(judged, "glm5", 2, "# 2\n"), 80, "fail")
    _score(judged, _attempt(judged, "glm5", 3, "# 3\n"), 70)
    _attempt(judged, "glm5", 4, "# glm5\nclass Cache:\n    pass\n")
    return judged


def _named(report: Report, anchor: str) -> list[dict[str, str]]:
    at = next(i for i, part in enumerate(report.parts) if isinstance(part, Heading) and part.anchor == anchor)
    found = report.parts[at + 1]
    assert isinstance(found, Table)
    return [dict(zip(found.head, (cell.text for cell in row), strict=True)) for row in found.rows]


def test_nobody_has_several_answers_where_each_has_one(judged: Workspace) -> None:
    assert several(judged, judged.tasks()) == {}


def test_the_board_of_the_first_answers_stays_as_it_was_by_a_byte(
    judged: Workspace, request: pytest.FixtureRequest
) -> None:
    before = scoreboard_markdown(judged)
    assert "ttempt" not in before
    request.getfixturevalue("repeated")
    after = scoreboard_markdown(judged)
    board = before[: before.index("\n\n")]
    assert after.startswith(board)
    head, _, row = after[after.index("| Model | Task") :].splitlines()[:3]
    assert head == (
        "| Model | Task | Attempts | Scored | Best | Mean | Spread | Checked | Passed | pass@1 | pass@2 "
        "| pass@3 | Same answers |"
    )
    assert (
        row
        == "| glm5 | kv | 4 | 4 of 4 | 80 (@2) | 67.5 | 9.6 | 3 of 4 | 2 | 67 % | 100 % | 100 % | @4 = @1 |"
    )


def test_the_scoreboard_of_a_readme_is_the_same_on_a_machine_that_has_stored_nothing(
    repeated: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _store_outcome(repeated, "glm5@3", Verdict.PASS)
    here = scoreboard_markdown(repeated)
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "elsewhere"))
    Store().remember(repeated.submission("glm5", "kv"), WHOLE)
    assert scoreboard_markdown(repeated) == here


def _store_outcome(workspace: Workspace, model: str, verdict: Verdict) -> None:
    store, submission = Store(), workspace.submission(model, "kv")
    store.chose("kv", "auto", "cpu", ["chip"])
    found = Outcome(model, "kv", "loads", verdict, "told", 0.1, device="chip")
    store.keep([found], store.key(submission, "cpu", "chip"))


def test_reports_tell_the_passes_that_are_stored_here_and_the_same_answer_shares_one(
    repeated: Workspace,
) -> None:
    _store_outcome(repeated, "glm5", Verdict.PASS)
    _store_outcome(repeated, "glm5@2", Verdict.FAIL)
    for shape in ("head-to-head", "two-way", "round", "standings", "metrics"):
        (row,) = _named(report_of(repeated, Asked(shape, ("glm5", "qwen36"))), "attempts")
        assert (row["Checked"], row["Passed"], row["pass@1"]) == ("3 of 4", "2", "67 %"), shape
        if shape != "metrics":
            assert (row["Best"], row["Mean"], row["Spread"]) == ("80 (@2)", "67.5", "9.6")


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape not in ("combined", "metrics")])
def test_no_report_says_a_word_of_attempts_where_each_has_one_answer(judged: Workspace, shape: str) -> None:
    report = report_of(judged, Asked(shape, ("glm5", "qwen36")))
    assert "ttempt" not in repr(report.parts)


def test_a_report_is_about_the_first_answers_unless_others_are_named(repeated: Workspace) -> None:
    assert set(report_of(repeated, Asked("head-to-head")).models) == {"glm5", "qwen36"}
    named = report_of(repeated, Asked("two-way", ("glm5@2", "qwen36")))
    assert named.title == "glm5@2 vs qwen36"


def test_attempts_count_for_their_model_and_never_against_it(repeated: Workspace) -> None:
    matchups = Matchups("kv", "anna").with_matchup(Matchup(("glm5", "glm5@2"), winner="glm5@2"))
    matchups = matchups.with_matchup(Matchup(("glm5@2", "qwen36"), winner="glm5@2"))
    save_matchups(repeated.matchups_path("kv", "anna"), matchups, None)
    report = report_of(repeated, Asked("standings"))
    tables = {part.head[0]: part for part in report.parts if isinstance(part, Table)}
    wins = [[cell.text for cell in row] for row in tables["Won against"].rows]
    # the mean of glm5's answers is 70, and qwen36 has 75
    assert sorted(row[0] for row in wins) == ["glm5", "qwen36"]
    (difference,) = tables["Models"].rows
    assert difference[-1].text == "1"
    by_matchups = next(
        part for part in report.parts if isinstance(part, Table) and part.head[0] == "Won against"
    )
    assert "n = 1" in by_matchups.caption


def test_verdicts_are_not_told_of_what_is_still_judged_blind(repeated: Workspace) -> None:
    for model in ("glm5", "glm5@2", "glm5@3"):
        _store_outcome(repeated, model, Verdict.PASS)
    (repeated.root / "judge-tui.toml").write_text("[blind]\nalways = true\n")
    (row,) = _named(report_of(Workspace.at(repeated.root), Asked("head-to-head")), "attempts")
    # the fourth, the first again, is not scored yet
    assert row["Checked"] == "3 of 4"


def test_points_of_files_that_have_changed_since_are_marked(repeated: Workspace) -> None:
    assert "†" not in scoreboard_markdown(repeated)
    (repeated.submissions / "glm5" / "kv@2" / "kv_cache.py").write_text("# changed\n")
    made = scoreboard_markdown(repeated)
    assert "| glm5 | kv | 4 | 4 of 4 † | 80 (@2) |" in made
    assert "† The files have changed since they were scored." in made


@pytest.mark.parametrize("shape", ["head-to-head", "round", "standings"])
def test_a_model_of_which_only_a_later_attempt_is_scored_is_told(workspace: Workspace, shape: str) -> None:
    _score(workspace, _attempt(workspace, "glm5", 2, "# 2\n"), 80)
    (row,) = _named(report_of(workspace, Asked(shape)), "attempts")
    assert (row["Model"], row["Scored"], row["Best"]) == ("glm5", "1 of 2", "80 (@2)")
    made = scoreboard_markdown(workspace)
    assert "| glm5 | – | – |" in made
    assert "| glm5 | kv | 2 | 1 of 2 | 80 (@2) |" in made


def test_of_a_challenge_the_board_goes_by_what_its_cards_have_seen(repeated: Workspace) -> None:
    (repeated.root / "challenges" / "chess").mkdir(parents=True)
    for folder, verdict in (("chess", "pass"), ("chess@2", "unbound")):
        path = repeated.submissions / "glm5" / folder
        path.mkdir()
        (path / "a.py").write_text(f"# {folder}\n")
        model = "glm5" if folder == "chess" else "glm5@2"
        seen = (CheckSeen("loads", "pass"), CheckSeen("accuracy", verdict))
        card = Scorecard(
            task="chess", model=model, judge="anna", overall=50, checks=seen,
            submission=repeated.submission(model, "chess").digest,
        )  # fmt: skip
        save_scorecard(repeated.scorecard_path("chess", model, "anna"), card, None)
    made = scoreboard_markdown(repeated)
    assert "| glm5 | chess | 2 | 2 of 2 | 50 (@1) | 50.0 | 0.0 | 1 of 2 | 1 | 100 % |" in made
