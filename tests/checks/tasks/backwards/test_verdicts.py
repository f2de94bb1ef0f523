"""What the verdicts on layer-norm backward say beyond right and wrong."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.backwards import TASK
from judge_tui.checks.tasks.backwards.contract import CONTRACT
from judge_tui.checks.verdict import Verdict

HERE = Path(__file__).parent
#: Checks of this task; the generic ones have tests of their own.
OWN = (
    "forward_accuracy",
    "gradients",
    "gradient_identities",
    "cache_minimality",
    "cancellation",
    "degenerate",
    "gradient_cost",
)


def test_no_check_of_this_task_knows_a_model() -> None:
    source = Path(CONTRACT.sample.__code__.co_filename).parent
    text = "".join(file.read_text().lower() for file in source.glob("*.py"))
    assert not re.search(r"glm|qwen|minimax|kimi", text)


@pytest.mark.parametrize(
    ("model", "count", "verdict", "dead"),
    [
        ("glm5", 3, Verdict.PASS, set()),
        ("qwen36", 4, Verdict.WARN, set()),
        (
            "minimax-m2.7",
            12,
            Verdict.FAIL,
            {"x", "x_centered", "mean", "var", "beta", "eps", "B", "T", "D"},
        ),
    ],
)
def test_the_entries_of_a_cache_are_counted_and_named(
    model: str, count: int, verdict: Verdict, dead: set[str]
) -> None:
    path = Path(__file__).parents[4] / "submissions" / model / "backwards"
    outcome = judge(TASK, Submission.at(path), seed=3, checks=["cache_minimality"])["cache_minimality"]
    entries = outcome.evidence[0]
    assert (entries.measured, outcome.verdict) == (count, verdict)
    assert {row[0] for row in entries.table[1:] if row[5] == "no"} == dead


@pytest.mark.parametrize("model", ["glm5", "qwen36", "minimax-m2.7"])
def test_the_submissions_of_the_repository_have_right_gradients(model: str) -> None:
    path = Path(__file__).parents[4] / "submissions" / model / "backwards"
    checks = tuple(check for check in OWN if check not in ("cache_minimality", "gradient_cost"))
    outcomes = judge(TASK, Submission.at(path), seed=3, checks=checks)
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.PASS}


def test_sizes_that_wrong_draws_alone_have_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "somebody" / "backwards"
    folder.mkdir(parents=True)
    shutil.copy(Path(__file__).parent / "mutants" / "lanes_past_the_width.py", folder)
    checks = ("forward_accuracy", "gradients")
    for outcome in judge(TASK, Submission.at(folder), seed=3, checks=checks).values():
        assert outcome.summary.endswith("wrong wherever D is no power of two, and only there")


@pytest.mark.parametrize(
    ("mutant", "check", "words"),
    [
        ("lanes_past_the_width", "forward_accuracy", "too large by mean² for each lane that pads D"),
        ("mean_without_the_last_feature", "forward_accuracy", "that of all features but the last alone"),
        ("rstd_of_every_fourth_row", "forward_accuracy", "rstd is that of the first of every 4 rows"),
        ("mean_of_g_over_positions", "gradients", "in dx mean(g) is its sum over T, not over D"),
        ("xhat_of_the_first_block", "gradients", "x̂ is that of the row of the same place among the first 8"),
        ("rstd_of_the_last_forward", "gradients", "it uses rstd of a forward that came after its own"),
        ("divides_by_the_norm", "degenerate", "something is divided by their spread without eps"),
        ("naive_variance", "cancellation", "it grows with the square of the offset"),
    ],
)
def test_what_is_read_off_a_wrong_answer_names_its_mistake(
    mutant: str, check: str, words: str, tmp_path: Path
) -> None:
    folder = tmp_path / "somebody" / "backwards"
    folder.mkdir(parents=True)
    shutil.copy(HERE / "mutants" / f"{mutant}.py", folder)
    outcome = judge(TASK, Submission.at(folder), seed=3, checks=(check,))[check]
    assert outcome.verdict is Verdict.FAIL
    assert words in outcome.summary


def test_an_order_of_memory_that_alone_is_wrong_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "somebody" / "backwards"
    folder.mkdir(parents=True)
    shutil.copy(Path(__file__).parent / "mutants" / "gradient_in_memory_order.py", folder)
    outcome = judge(TASK, Submission.at(folder), seed=3, checks=("gradients",))["gradients"]
    assert "only where dy lies otherwise in memory than row by row" in outcome.summary
    assert outcome.summary.endswith(": its numbers are taken in their order in memory")
