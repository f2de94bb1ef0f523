"""Answers that are right but for the rounding of a lower precision are told by what was rounded."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks import bfloat16
from judge_tui.checks.precision import Rounding, lowered, same
from judge_tui.checks.rounded_attention import attention_in_steps
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Outcome, Verdict

TASKS = Path(__file__).parent / "tasks"
Array = npt.NDArray[Any]

RNG = np.random.default_rng(11)
Q, K, V = RNG.standard_normal((3, 1, 2, 14, 8))


def formula(by: Rounding) -> Mapping[str, Array]:
    return {"O": attention_in_steps(by, Q, K, V)}


def answer(q: Array, k: Array, v: Array, cut: Any = lambda weights: weights) -> Mapping[str, Array]:
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(8)
    weights = cut(np.exp(scores - scores.max(-1, keepdims=True)))
    return {"O": weights @ v / weights.sum(-1, keepdims=True)}


def half(x: Array) -> Array:
    return x.astype(np.float16).astype(np.float64)


def brain(x: Array) -> Array:
    return bfloat16.rounded(x).view(np.ndarray).astype(np.float64)


def cut(x: Array) -> Array:
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).astype(np.float64)


def single(x: Array) -> Array:
    return x.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (answer(half(Q), K, V), "Q is rounded to float16"),
        (answer(half(Q), half(K), half(V)), "Q, K and V are rounded to float16"),
        (answer(half(Q / np.sqrt(8)) * np.sqrt(8), K, V), "Q/√D is rounded to float16"),
        (answer(half(Q * np.log2(np.e) / np.sqrt(8)) * np.sqrt(8) / np.log2(np.e), K, V), "Q·log₂e/√D is"),
        (answer(Q, K, V, half), "P is rounded to float16"),
        (answer(Q, K, V, brain), "P is rounded to bfloat16"),
        (answer(Q, K, V, cut), "P is cut down to bfloat16"),
        (answer(Q, K, single(V)), "V is rounded to float32"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_rounded_and_to_what_is_named(made: Mapping[str, Array], words: str) -> None:
    found = lowered(made, formula)
    assert found is not None
    assert words in found.cause


@pytest.mark.parametrize(
    "made",
    [
        answer(Q, K, V),
        answer(Q * 1.0003, K, V),
        {"O": answer(Q, K, V)["O"] * (1 - 3e-4)},
        {"O": answer(Q, K, V)["O"] + 3e-4},
        answer(Q, K[:, :, ::-1], V),
        {"O": np.full_like(V, np.nan)},
        {"O": half(V)[:, :1]},
    ],
    ids=["right", "scaled queries", "shrunk", "shifted", "wrong", "NaN", "another shape"],
)
def test_no_other_deviation_is_taken_for_rounding(made: Mapping[str, Array]) -> None:
    assert lowered(made, formula, exact=lambda _: True) is None


def test_rounding_in_an_order_of_its_own_is_told_where_it_vanishes_on_integers_and_not_without() -> None:
    total, out = np.zeros((*V.shape[:3], 1)), np.zeros(V.shape)
    for key in RNG.permutation(14):
        score = half(half(half(Q) * half(K[:, :, key : key + 1])).sum(-1, keepdims=True) / np.sqrt(8))
        weight = half(np.exp(score))
        total, out = half(total + weight), half(out + half(weight * half(V[:, :, key : key + 1])))
    made = {"O": half(out / total)}
    assert lowered(made, formula) is None
    assert lowered(made, formula, exact=lambda _: False) is None
    found = lowered(made, formula, exact=lambda _: True)
    assert found is not None
    assert found.text.startswith("right but for float16 precision: error ")
    assert found.text.endswith("on every number, none on small integers")


def test_no_type_as_wide_as_the_input_is_a_lower_precision() -> None:
    assert lowered(answer(Q, K, single(V)), formula, dtype=np.float32) is None
    assert lowered(answer(Q, K, half(V)), formula, dtype=np.float32) is not None


def test_a_lower_precision_explains_most_calls_and_errors_of_its_size_alone() -> None:
    found = lowered(answer(Q, K, V, half), formula)
    assert found is not None
    assert found.explains([3e-4, 2e-4, 0.5], 4)
    assert not found.explains([3e-4], 4)
    assert not found.explains([0.5, float("nan"), 3e-4], 4)
    assert not found.explains([], 0)


def test_an_output_is_the_same_within_a_share_of_its_own_size() -> None:
    truth = {"small": np.array([1e-6, -1e-6]), "large": np.array([1e6])}
    assert same({"small": truth["small"] * (1 + 1e-4), "large": truth["large"]}, truth, 1e-3)
    assert not same({"small": truth["small"] + 1e-6, "large": truth["large"]}, truth, 1e-3)


def outcomes(task: str, mutant: str, checks: tuple[str, ...], folder: Path) -> Mapping[str, Outcome]:
    submitted = folder / "somebody" / task
    submitted.mkdir(parents=True)
    shutil.copy(TASKS / task / "mutants" / f"{mutant}.py", submitted)
    return judge(load_task(task), Submission.at(submitted), seed=77, checks=checks)


@pytest.mark.parametrize(
    ("task", "mutant", "checks", "told"),
    [
        (
            "flash_attention_bwd", "operands_in_float16", ("gradient_identities",),
            "float16 precision: Q, K, V and dO in PᵀdO and dOVᵀ are rounded to float16",
        ),
        (
            "flash_attention_bwd", "sums_in_float16", ("gradients", "gradient_identities", "masked_rows"),
            "float16 precision: dQ, dK and dV are rounded to float16",
        ),
        (
            "flash_attention_bwd", "p_and_ds_cut_to_bfloat16", ("gradient_identities", "masked_rows"),
            "bfloat16 precision: P and dS/√D are cut down to bfloat16",
        ),
        (
            "flash_attention", "sums_in_float16", ("accuracy", "rescaling_direction", "nan_masked_tiles"),
            "float16 precision: PV is rounded to float16",
        ),
        (
            "backwards", "normalised_rows_in_float16", ("gradients", "gradient_identities", "cancellation"),
            "float16 precision: x̂ is rounded to float16",
        ),
        ("kv", "queries_scaled_in_float16", ("incremental_equals_full",), "Q/√D is rounded to float16"),
    ],
)  # fmt: skip
def test_sentences_name_the_precision(
    task: str, mutant: str, checks: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    for check, outcome in outcomes(task, mutant, checks, tmp_path).items():
        assert outcome.verdict in (Verdict.FAIL, Verdict.WARN)
        assert "right but for " in outcome.summary, (check, outcome.summary)
        assert told in outcome.summary, (check, outcome.summary)
        assert "none on small integers" in outcome.summary, (check, outcome.summary)


def test_rows_that_see_no_key_are_not_blamed_for_numbers_that_a_type_does_not_hold(tmp_path: Path) -> None:
    outcome = outcomes("flash_attention_bwd", "operands_in_float16", ("masked_rows",), tmp_path)[
        "masked_rows"
    ]
    assert outcome.verdict is Verdict.FAIL
    assert (
        "): their scores come of 1e+200, which float16 does not hold; elsewhere right but" in outcome.summary
    )
    assert "where every row sees one" not in outcome.summary


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            "    if causal:\n        rows = first_row",
            "    s = s.astype(np.float16).astype(np.float64)\n    if causal:\n        rows = first_row",
            ": QKᵀ/√D of both passes is rounded to float16;",
        ),
        (
            "delta = np.sum(dO * O, axis=-1, keepdims=True)",
            "delta = np.sum(dO * O, axis=-1, keepdims=True).astype(np.float16).astype(np.float64)",
            ": rowsum(dO ∘ O) is rounded to float16;",
        ),
        (
            '(cache[name] for name in "QKVOL")',
            '(cache[name].astype(np.float16) for name in "QKVOL")\n    dO = dO.astype(np.float16)',
            "right but for float16 precision: error ",
        ),
    ],
    ids=["scores", "row sums", "throughout"],
)
def test_wherever_a_backward_rounds_it_is_told(before: str, after: str, told: str, tmp_path: Path) -> None:
    mutant = TASKS / "flash_attention_bwd" / "mutants" / "operands_in_float16.py"
    text = mutant.read_text().replace(".astype(np.float16).astype(np.float64)", "")
    assert before in text
    submitted = tmp_path / "somebody" / "flash_attention_bwd"
    submitted.mkdir(parents=True)
    (submitted / "attention.py").write_text(text.replace(before, after, 1))
    task = load_task("flash_attention_bwd")
    (outcome,) = judge(task, Submission.at(submitted), seed=7, checks=("gradient_identities",)).values()
    assert outcome.verdict is Verdict.FAIL
    assert told in outcome.summary


def test_a_statistic_that_is_kept_in_a_lower_precision_is_told_so(tmp_path: Path) -> None:
    outcome = outcomes("flash_attention_bwd", "l_in_half_precision", ("logsumexp",), tmp_path)["logsumexp"]
    assert outcome.verdict is Verdict.FAIL
    assert "; right but for float16 precision: L is rounded to float16; error " in outcome.summary
