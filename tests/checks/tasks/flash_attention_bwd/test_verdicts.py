"""What the verdicts on flash attention backward say beyond right and wrong."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.flash_attention_bwd import TASK
from judge_tui.checks.tasks.flash_attention_bwd.contract import CONTRACT
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
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


def judged(path: Path, checks: tuple[str, ...], folder: Path, seed: int = 20251) -> dict[str, Outcome]:
    """Outcomes of one file, or of one folder, as the submission of some model."""
    submitted = folder / "somebody" / "flash_attention_bwd"
    if path.is_dir():
        shutil.copytree(path, submitted, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        submitted.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, submitted / path.name)
    return judge(TASK, Submission.at(submitted), seed=seed, checks=checks)


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
    ("model", "guarded"),
    [
        pytest.param("kimi-k2.6", False, marks=pytest.mark.campaign),
        pytest.param("glm5", False, marks=pytest.mark.campaign),
        pytest.param("qwen36", False, marks=pytest.mark.campaign),
        ("glm5.1", True),
    ],
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


def test_a_backward_alone_leaves_what_is_about_the_forward_open_and_says_whose_o_and_l_were(
    tmp_path: Path,
) -> None:
    outcomes = judged(HERE / "twins" / "backward_alone_rows.py", OWN, tmp_path)
    passed = {check for check, outcome in outcomes.items() if outcome.verdict is Verdict.PASS}
    assert passed == {"gradients", "gradient_identities"}
    assert {outcomes[check].verdict for check in {*OWN} - passed} == {Verdict.UNBOUND}
    assert "role 'forward'" in outcomes["accuracy"].summary
    told = next(item for item in outcomes["gradients"].evidence if item.quantity == "O and L")
    assert told.measured == "the judge's own"


def test_a_backward_alone_that_masks_always_is_told_from_its_answers(tmp_path: Path) -> None:
    outcome = judged(HERE / "twins" / "backward_alone_rows.py", ("gradients",), tmp_path)["gradients"]
    assert any("Only causal attention" in item.note for item in outcome.evidence)


def test_no_hidden_place_keeps_scores_from_being_seen(tmp_path: Path) -> None:
    outcome = judged(HERE / "mutants" / "scores_in_tiles.py", ("cache_minimality",), tmp_path)[
        "cache_minimality"
    ]
    assert (outcome.verdict, "for every pair of rows" in outcome.summary) == (Verdict.FAIL, True)


def test_nan_of_rows_that_see_no_key_is_told_beside_calls_where_every_row_sees_one(tmp_path: Path) -> None:
    outcome = judged(HERE / "mutants" / "log_of_zero.py", ("masked_rows",), tmp_path)["masked_rows"]
    assert outcome.summary.endswith("; finite where every row sees one")


def test_tiles_of_which_pass_are_the_more_is_told(tmp_path: Path) -> None:
    file = HERE / "mutants" / "rows_of_the_forward_s_grid.py"
    outcome = judged(file, ("gradients",), tmp_path)["gradients"]
    told = "wrong where the number of tiles of the backward is more than that of the forward, and only there"
    assert told in outcome.summary


@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        ("dq_overwritten", "in its dS, of the tiles of keys that a row visits the last alone counts"),
        ("dk_overwritten", "in its dS, of the tiles of queries the last alone counts"),
        ("row_sum_of_do", "in its dS, the row sum is rowsum(dO)"),
        ("dv_with_ds", "it is what dSᵀ dO gives"),
        ("batches_mixed", "K of every head is taken from the first batch entry in the backward"),
    ],
)
def test_what_is_read_off_a_wrong_gradient_names_its_mistake(mutant: str, words: str, tmp_path: Path) -> None:
    outcome = judged(HERE / "mutants" / f"{mutant}.py", ("gradients",), tmp_path)["gradients"]
    assert outcome.verdict is Verdict.FAIL
    assert words in outcome.summary
