"""The reference's gradients are those of attention, and a mistake is named by what it gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from judge_tui.checks.gradients import Independence, complex_step, independent
from judge_tui.checks.tasks.flash_attention_bwd.blind import _blinded
from judge_tui.checks.tasks.flash_attention_bwd.differenced import _BLOCKS
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.mistakes import _VARIANTS, _made, _of_weights, causes
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, gradients, logsumexp, plain, posed
from judge_tui.checks.verdict import Verdict

SHAPE = (2, 2, 9, 4)


def problem(causal: bool = True, seed: int = 5):
    return posed(np.random.default_rng(seed), SHAPE, 4, causal)


def attention(at: Mapping[str, np.ndarray], causal: bool) -> np.ndarray:
    """By its definition and analytic, so that it takes complex input."""
    weights = np.exp(at["q"] @ at["k"].swapaxes(-1, -2) / np.sqrt(SHAPE[-1]))
    if causal:
        weights = weights * np.tri(SHAPE[2])
    return weights @ at["v"] / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize("causal", [True, False])
def test_the_analytic_gradients_are_the_derivatives_of_the_definition(causal: bool) -> None:
    p = problem(causal)
    at = {"q": p.case.q, "k": p.case.k, "v": p.case.v}
    for name in NAMES:
        blocks = Independence(name[1].lower(), ((0, 0), (1, 1)))
        exact = complex_step(lambda x: attention(x, causal), at, blocks, p.d_out)
        np.testing.assert_allclose(gradients(p)[name], exact, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("causal", [True, False])
def test_the_colouring_claims_no_more_independence_than_attention_has(causal: bool) -> None:
    p = problem(causal)
    at = {"q": p.case.q, "k": p.case.k, "v": p.case.v}
    rng = np.random.default_rng(2)
    for blocks in _BLOCKS.values():
        assert independent(lambda x: attention(x, causal), at, blocks, rng)
    keys_by_row = Independence("k", ((0, 0), (1, 1), (2, 2)))
    assert not independent(lambda x: attention(x, causal), at, keys_by_row, rng)


def test_log_sum_exp_is_that_of_the_visible_scores() -> None:
    p = problem()
    for b, h, i in np.ndindex(*SHAPE[:3]):
        scores = p.case.k[b, h, : i + 1] @ p.case.q[b, h, i] / 2
        assert logsumexp(p.case)[b, h, i] == pytest.approx(np.log(np.exp(scores).sum()), rel=1e-13)


@pytest.mark.parametrize("identity", [True, False])
def test_plain_code_is_right_to_its_rounding_and_float32_to_its_own(identity: bool) -> None:
    p = problem()
    double, single = (plain(p, dtype, identity=identity) for dtype in (np.float64, np.float32))
    assert all(f.verdict is Verdict.PASS for f in Ledger().hold(p, double))
    assert all(f.verdict is Verdict.WARN for f in Ledger().hold(p, single))
    low = p.as_type(np.float32)
    assert all(
        f.verdict is Verdict.PASS for f in Ledger().hold(low, plain(low, np.float32, identity=identity))
    )


def test_zeros_nan_turned_signs_and_rows_in_another_order_are_past_every_limit() -> None:
    p = problem()
    truth = gradients(p)
    for change in (lambda g: 0 * g, lambda g: g * np.nan, lambda g: -g, lambda g: g[:, :, ::-1]):
        figures = Ledger().hold(p, {name: change(truth[name]) for name in NAMES})
        assert all(figure.verdict is Verdict.FAIL for figure in figures)


def test_one_small_row_that_is_wrong_fails_beside_huge_ones() -> None:
    p = problem()
    p.d_out[0] *= 1e9
    made = {name: value.copy() for name, value in gradients(p).items()}
    made["dV"][1, 1, 3] *= 1.01
    figures = {figure.name: figure for figure in Ledger().hold(p, made)}
    assert figures["dV"].verdict is Verdict.FAIL
    assert figures["dV"].row == (1, 1, 3)
    assert figures["dQ"].verdict is Verdict.PASS


def test_every_known_mistake_is_named_and_none_is_named_where_all_is_right() -> None:
    for causal in (True, False):
        p = problem(causal)
        truth = gradients(p)
        assert causes(truth, truth, p) == {}
        for name, variants in _VARIANTS.items():
            for text, variant in (*variants.items(), *_of_weights(name)):
                if text == "without the causal mask" and not causal:
                    continue
                wrong = {**truth, name: _made(p, variant)[name]}
                assert f"it is what the formula gives {text}" in causes(wrong, truth, p)[name]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blind_rows_see_nothing_and_the_others_what_they_saw(dtype: type) -> None:
    p = problem(False)
    rows = np.zeros(SHAPE[:3], dtype=bool)
    rows[0, 1, [0, 4]] = True
    blind = _blinded(p, rows, np.dtype(dtype))
    with np.errstate(over="ignore"):
        scores = blind.given.case.q @ blind.given.case.k.swapaxes(-1, -2)
    assert np.isneginf(scores[rows]).all()
    assert np.isfinite(blind.given.case.q).all()
    assert np.isfinite(blind.given.case.k).all()
    clean = blind.clean.case.q @ blind.clean.case.k.swapaxes(-1, -2)
    np.testing.assert_allclose(scores[~rows], clean[~rows], rtol=1e-6)
    assert not gradients(blind.clean)["dQ"][rows].any()
