"""The reference is attention, and what it says of known mistakes is what they give."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.reference import attention, plain, streamed
from judge_tui.checks.tasks.flash_attention.rows import Rows
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict


def case(causal: bool = False, length: int = 24) -> Case:
    return drawn(np.random.default_rng(5), (2, 2, length, 4), 8, causal)


@pytest.mark.parametrize("causal", [True, False])
def test_the_reference_is_the_definition_row_by_row(causal: bool) -> None:
    c = case(causal)
    out = attention(c.q, c.k, c.v, causal)
    for b, h, i in np.ndindex(2, 2, 24):
        seen = i + 1 if causal else 24
        weights = np.exp(c.k[b, h, :seen] @ c.q[b, h, i] / 2)
        np.testing.assert_allclose(out[b, h, i], weights @ c.v[b, h, :seen] / weights.sum(), rtol=1e-12)


def test_a_row_that_sees_no_key_is_zero() -> None:
    c = case()
    c.q[..., 0], c.k[..., 0] = 1.0, -np.inf
    assert not attention(c.q, c.k, c.v, False).any()


@pytest.mark.parametrize(("dtype", "most"), [(np.float64, 1e-14), (np.float32, 1e-5)])
def test_the_plain_implementation_is_off_by_its_rounding_and_no_more(dtype: type, most: float) -> None:
    c = case(True)
    assert 0 < relative_error(plain(c.q, c.k, c.v, True, dtype), c.truth) < most


def test_a_wrong_factor_is_exact_in_one_tile_and_far_off_in_three() -> None:
    c = case()
    for factor in ("reversed", "absent", "only l", "only O"):
        assert relative_error(streamed(c.q, c.k, c.v, 24, False, factor), c.truth) < 1e-12
        assert relative_error(streamed(c.q, c.k, c.v, 8, False, factor), c.truth) > 0.1


def test_zeros_nan_and_rows_in_another_order_are_past_every_limit() -> None:
    c = case(True)
    for out in (np.zeros_like(c.q), np.full_like(c.q, np.nan), c.truth[:, :, ::-1], -c.truth):
        assert Rows().hold(c, out).verdict is Verdict.FAIL
    assert Rows().hold(c, c.truth).verdict is Verdict.PASS
    assert Rows().hold(c, c.truth.astype(np.float32).astype(np.float64)).verdict is Verdict.WARN


def test_one_small_row_that_is_wrong_fails_beside_a_huge_one() -> None:
    c = case()
    c.v[0] *= 1e9
    out = c.truth.copy()
    out[1, 1, 3] *= 1.01
    assert Rows().hold(c, out).verdict is Verdict.FAIL
