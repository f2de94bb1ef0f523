"""Every check catches its mutants and passes every twin."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.flash_attention_bwd import TASK
from judge_tui.checks.tasks.flash_attention_bwd.contract import CONTRACT
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
MUTANTS = sorted((HERE / "mutants").iterdir())
TWINS = sorted((HERE / "twins").iterdir())
REPOSITORY = Path(__file__).parents[4] / "submissions"
#: Checks of this task; the generic ones have tests of their own.
OWN = (
    "gradients",
    "gradient_identities",
    "logsumexp",
    "masked_rows",
    "cache_minimality",
    "kv_passes",
    "peak_memory",
    "accuracy",
    "rescaling_direction",
    "nan_masked_tiles",
)
#: Not run on code that loops over elements in Python: its size alone makes it slow.
SLOW = {
    "nested_lists": ("peak_memory", "rescaling_direction", "nan_masked_tiles", "cache_minimality"),
    **dict.fromkeys(
        ("no_cache_object", "split_files", "single_head", "closure_vjp", "reordered_tuple"), ("peak_memory",)
    ),
}
#: `kv_passes` reports; it fails only what gives no gradients at all.
REPORTS = ("kv_passes",)


def stated(path: Path, what: str) -> tuple[str, ...]:
    """Checks that a header line ``# caught by: …`` names, in a file or in one of a folder's."""
    for file in [path] if path.is_file() else sorted(path.glob("*.py")):
        if found := re.search(rf"^# {what}: (.+)$", file.read_text(), re.M):
            return tuple(name.strip().split()[0] for name in found[1].split(","))
    return ()


def judged(path: Path, checks: tuple[str, ...], folder: Path, seed: int = 20251) -> dict[str, Outcome]:
    """Outcomes of one file, or of one folder, as the submission of some model."""
    submitted = folder / "somebody" / "flash_attention_bwd"
    if path.is_dir():
        shutil.copytree(path, submitted, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        submitted.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, submitted / path.name)
    return judge(TASK, Submission.at(submitted), seed=seed, checks=checks)


@pytest.mark.parametrize("path", MUTANTS, ids=lambda path: path.stem)
def test_a_mutant_gets_the_verdict_that_it_earns(path: Path, tmp_path: Path) -> None:
    fails, warns, passes = stated(path, "caught by"), stated(path, "warned by"), stated(path, "passes")
    assert fails or warns, "a mutant names the checks that catch it"
    outcomes = judged(path, fails + warns + passes, tmp_path)
    expected = {
        **dict.fromkeys(fails, Verdict.FAIL),
        **dict.fromkeys(warns, Verdict.WARN),
        **dict.fromkeys(passes, Verdict.PASS),
    }
    assert {check: outcome.verdict for check, outcome in outcomes.items()} == expected, outcomes
    for check in fails:
        assert outcomes[check].location is not None, f"{check} points at no line"


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_right_code_in_unusual_style_passes(path: Path, tmp_path: Path) -> None:
    outcomes = judged(path, tuple(check for check in OWN if check not in SLOW.get(path.stem, ())), tmp_path)
    expected = {
        **dict.fromkeys(outcomes, Verdict.PASS),
        **dict.fromkeys(stated(path, "skips"), Verdict.SKIP),
        **dict.fromkeys(stated(path, "warns"), Verdict.WARN),
    }
    wrong = {check: o.summary for check, o in outcomes.items() if o.verdict is not expected[check]}
    assert not wrong


def test_every_check_has_mutants_in_several_spellings_and_twins() -> None:
    caught = Counter(name for path in MUTANTS for name in stated(path, "caught by"))
    skipped = Counter(name for path in TWINS for name in (*stated(path, "skips"), *SLOW.get(path.stem, ())))
    assert all(caught[check] >= 4 for check in OWN if check not in REPORTS), caught
    assert all(len(TWINS) - skipped[check] >= 3 for check in OWN)
    assert set(OWN) <= set(TASK.by_id)


def test_no_check_of_this_task_knows_a_model() -> None:
    source = Path(CONTRACT.sample.__code__.co_filename).parent
    text = "".join(file.read_text().lower() for file in source.glob("*.py"))
    assert not re.search(r"glm|qwen|minimax|kimi", text)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (HERE / "twins" / "batched_matmul.py", "one walk"),
        (HERE / "twins" / "single_head.py", "one walk"),
        (HERE / "twins" / "dataclass_context.py", "two walks"),
        (HERE / "twins" / "no_cache_object.py", "two walks"),
        (REPOSITORY / "glm5" / "flash_attention_bwd", "one walk"),
        (REPOSITORY / "glm5.1" / "flash_attention_bwd", "one walk"),
        (REPOSITORY / "kimi-k2.6" / "flash_attention_bwd", "two walks"),
        (REPOSITORY / "qwen36" / "flash_attention_bwd", "two walks"),
    ],
    ids=lambda value: "-".join(value.parts[-2:]) if isinstance(value, Path) else value.partition(" ")[0],
)
def test_walks_over_keys_and_values_are_counted(path: Path, told: str, tmp_path: Path) -> None:
    outcome = judged(path, ("kv_passes",), tmp_path)["kv_passes"]
    assert (outcome.verdict, outcome.summary.startswith(told)) == (Verdict.PASS, True), outcome.summary


@pytest.mark.parametrize(
    ("model", "guarded"), [("kimi-k2.6", False), ("glm5", False), ("qwen36", False), ("glm5.1", True)]
)
def test_the_submissions_of_the_repository_are_right_but_for_rows_that_see_nothing(
    model: str, guarded: bool
) -> None:
    outcomes = judge(TASK, Submission.at(REPOSITORY / model / "flash_attention_bwd"), seed=3, checks=OWN)
    verdicts = {check: outcome.verdict for check, outcome in outcomes.items()}
    empty = {"masked_rows": Verdict.FAIL, "nan_masked_tiles": Verdict.PASS if guarded else Verdict.FAIL}
    assert verdicts == {**dict.fromkeys(OWN, Verdict.PASS), **empty}


def test_a_mistake_in_the_gradient_is_named_and_its_line_pointed_at(tmp_path: Path) -> None:
    file = HERE / "mutants" / "row_sum_per_tile.py"
    outcome = judged(file, ("gradients",), tmp_path)["gradients"]
    assert "with the row sum of each tile alone" in outcome.summary
    assert outcome.location is not None
    assert "dQ" in file.read_text().splitlines()[outcome.location[1] - 1]


def test_no_hidden_place_keeps_scores_from_being_seen(tmp_path: Path) -> None:
    outcome = judged(HERE / "mutants" / "scores_in_tiles.py", ("cache_minimality",), tmp_path)[
        "cache_minimality"
    ]
    assert (outcome.verdict, "for every pair of rows" in outcome.summary) == (Verdict.FAIL, True)
