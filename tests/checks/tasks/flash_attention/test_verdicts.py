"""Every check catches its mutants and passes every twin."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.flash_attention import TASK
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
MUTANTS = sorted((HERE / "mutants").glob("*.py"))
TWINS = sorted((HERE / "twins").glob("*.py"))
#: Checks of this task; the generic ones have tests of their own.
OWN = ("accuracy", "rescaling_direction", "nan_masked_tiles", "causality", "causal_skip", "peak_memory")
#: Not run on code that loops over elements in Python: its size alone makes it slow.
SLOW = {
    "pure_python": ("peak_memory", "rescaling_direction", "nan_masked_tiles"),
    "per_row_loops": ("peak_memory", "causal_skip", "nan_masked_tiles"),
}


def stated(file: Path, what: str) -> tuple[str, ...]:
    """Checks that a header line ``# caught by: …`` names."""
    found = re.search(rf"^# {what}: (.+)$", file.read_text(), re.M)
    return tuple(name.strip().split()[0] for name in found[1].split(",")) if found else ()


def judged(file: Path, checks: tuple[str, ...], folder: Path, seed: int = 20251) -> dict[str, Outcome]:
    """Outcomes of one file as the submission of some model."""
    submitted = folder / "somebody" / "flash_attention"
    submitted.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, submitted / file.name)
    return judge(TASK, Submission.at(submitted), seed=seed, checks=checks)


@pytest.mark.parametrize("file", MUTANTS, ids=lambda file: file.stem)
def test_a_mutant_gets_the_verdict_that_it_earns(file: Path, tmp_path: Path) -> None:
    fails, warns, passes = stated(file, "caught by"), stated(file, "warned by"), stated(file, "passes")
    assert fails or warns, "a mutant names the checks that catch it"
    outcomes = judged(file, fails + warns + passes, tmp_path)
    expected = {
        **dict.fromkeys(fails, Verdict.FAIL),
        **dict.fromkeys(warns, Verdict.WARN),
        **dict.fromkeys(passes, Verdict.PASS),
    }
    assert {check: outcome.verdict for check, outcome in outcomes.items()} == expected, outcomes
    for check in fails:
        assert outcomes[check].location is not None, f"{check} points at no line"


@pytest.mark.parametrize("file", TWINS, ids=lambda file: file.stem)
def test_right_code_in_unusual_style_passes(file: Path, tmp_path: Path) -> None:
    outcomes = judged(file, tuple(check for check in OWN if check not in SLOW.get(file.stem, ())), tmp_path)
    expected = {
        **dict.fromkeys(outcomes, Verdict.PASS),
        **dict.fromkeys(stated(file, "skips"), Verdict.SKIP),
        **dict.fromkeys(stated(file, "warns"), Verdict.WARN),
    }
    wrong = {check: o.summary for check, o in outcomes.items() if o.verdict is not expected[check]}
    assert not wrong


def test_every_check_has_mutants_in_several_spellings_and_twins() -> None:
    caught = Counter(name for file in MUTANTS for name in stated(file, "caught by"))
    skipped = Counter(name for file in TWINS for name in (*stated(file, "skips"), *SLOW.get(file.stem, ())))
    assert all(caught[check] >= 4 for check in OWN), caught
    assert all(len(TWINS) - skipped[check] >= 3 for check in OWN)
    assert set(OWN) <= set(TASK.by_id)


def test_work_that_is_not_counted_is_no_skipped_work(tmp_path: Path) -> None:
    text = (HERE / "mutants" / "hides_from_the_count.py").read_text()
    file = tmp_path / "hidden_deeper.py"
    plain = "np.ndarray(a.shape, a.dtype, a.tobytes())"
    file.write_text(text.replace("np.frombuffer(a.tobytes()).reshape(a.shape)", plain))
    outcome = judged(file, ("causal_skip",), tmp_path)["causal_skip"]
    assert plain in file.read_text()
    assert (outcome.verdict, "not counted" in outcome.summary) == (Verdict.SKIP, True)


def test_the_summary_of_the_rescaling_names_the_mistake_and_all_three_errors(tmp_path: Path) -> None:
    file = HERE / "mutants" / "reversed_guarded.py"
    outcome = judged(file, ("rescaling_direction",), tmp_path)["rescaling_direction"]
    assert "exp(m_new - m_old)" in outcome.summary
    assert all(word in outcome.summary for word in ("rising", "falling", "constant"))
    assert outcome.location is not None
    line = file.read_text().splitlines()[outcome.location[1] - 1]
    assert "np.exp(m_new - m)" in line


@pytest.mark.parametrize(
    ("model", "accuracy"), [("glm5", Verdict.PASS), ("minimax-m2.7", Verdict.PASS), ("qwen36", Verdict.WARN)]
)
def test_the_submissions_of_the_repository_are_right_and_one_is_in_float32(
    model: str, accuracy: Verdict
) -> None:
    path = Path(__file__).parents[4] / "submissions" / model / "flash_attention"
    outcomes = judge(TASK, Submission.at(path), seed=3, checks=OWN)
    verdicts = {check: outcome.verdict for check, outcome in outcomes.items()}
    assert verdicts == {**dict.fromkeys(OWN, Verdict.PASS), "accuracy": accuracy}
