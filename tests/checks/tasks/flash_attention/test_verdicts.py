"""What the verdicts on flash attention say beyond right and wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.flash_attention import TASK
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
#: Checks of this task; the generic ones have tests of their own.
OWN = ("accuracy", "rescaling_direction", "nan_masked_tiles", "causality", "causal_skip", "peak_memory")


def judged(file: Path, checks: tuple[str, ...], folder: Path, seed: int = 20251) -> dict[str, Outcome]:
    """Outcomes of one file as the submission of some model."""
    submitted = folder / "somebody" / "flash_attention"
    submitted.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, submitted / file.name)
    return judge(TASK, Submission.at(submitted), seed=seed, checks=checks)


@pytest.mark.parametrize(
    ("values", "verdict", "told"),
    [("V", Verdict.FAIL, "above the diagonal"), ("np.nan_to_num(V)", Verdict.SKIP, "not counted")],
)
def test_work_that_is_not_counted_is_no_skipped_work(
    tmp_path: Path, values: str, verdict: Verdict, told: str
) -> None:
    text = (HERE / "mutants" / "hides_from_the_count.py").read_text()
    file = tmp_path / "hidden_deeper.py"
    plain = "np.ndarray(a.shape, a.dtype, a.tobytes())"
    text = text.replace("np.frombuffer(a.tobytes()).reshape(a.shape)", plain)
    file.write_text(text.replace("for a in (Q, K, V)", f"for a in (Q, K, {values})"))
    outcome = judged(file, ("causal_skip",), tmp_path)["causal_skip"]
    assert plain in file.read_text()
    assert (outcome.verdict, told in outcome.summary) == (verdict, True)


def test_the_summary_of_the_rescaling_names_the_mistake_and_all_three_errors(tmp_path: Path) -> None:
    file = HERE / "mutants" / "reversed_guarded.py"
    outcome = judged(file, ("rescaling_direction",), tmp_path)["rescaling_direction"]
    assert "exp(m_new - m_old)" in outcome.summary
    assert all(word in outcome.summary for word in ("rising", "falling", "constant"))
    assert outcome.location is not None
    line = file.read_text().splitlines()[outcome.location[1] - 1]
    assert "np.exp(m_new - m)" in line


@pytest.mark.parametrize(
    ("model", "accuracy"),
    [
        ("glm5", Verdict.PASS),
        pytest.param("minimax-m2.7", Verdict.PASS, marks=pytest.mark.campaign),
        ("qwen36", Verdict.WARN),
    ],
)
def test_the_submissions_of_the_repository_are_right_and_one_is_in_float32(
    model: str, accuracy: Verdict
) -> None:
    path = Path(__file__).parents[4] / "submissions" / model / "flash_attention"
    outcomes = judge(TASK, Submission.at(path), seed=3, checks=OWN)
    verdicts = {check: outcome.verdict for check, outcome in outcomes.items()}
    assert verdicts == {**dict.fromkeys(OWN, Verdict.PASS), "accuracy": accuracy}


def test_sizes_that_wrong_cases_alone_have_are_told(tmp_path: Path) -> None:
    file = HERE / "mutants" / "scale_of_the_padded_width.py"
    outcome = judged(file, ("accuracy",), tmp_path)["accuracy"]
    assert outcome.summary.endswith("; wrong wherever D is no multiple of 8, and only there")


def test_from_how_many_tiles_on_it_is_wrong_is_told_beside_the_merge(tmp_path: Path) -> None:
    file = HERE / "mutants" / "merged_logsumexp_is_the_larger.py"
    outcome = judged(file, ("accuracy",), tmp_path)["accuracy"]
    assert "their merge goes on with the larger L of both" in outcome.summary
    assert "right where the number of tiles is 2 or less, wrong from 3 on" in outcome.summary


def test_an_order_of_memory_that_alone_is_wrong_is_told(tmp_path: Path) -> None:
    file = HERE / "mutants" / "heads_by_their_strides.py"
    outcome = judged(file, ("accuracy",), tmp_path)["accuracy"]
    assert "lies otherwise in memory than row by row (Q is Fortran, transposed;" in outcome.summary
    assert outcome.summary.endswith("the first head of the first batch entry is read for every head")
