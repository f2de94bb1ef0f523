"""bfloat16 is rounded as ml_dtypes rounds it, and travels to the worker and back unchanged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.bfloat16 import Bfloat16, bits, rounded

ml_dtypes = pytest.importorskip("ml_dtypes")
FLOATS = st.lists(st.floats(width=32), min_size=1, max_size=40)


@given(FLOATS)
def test_rounding_is_that_of_ml_dtypes(values: list[float]) -> None:
    single = np.array(values, np.float32)
    with np.errstate(all="ignore"):
        theirs = single.astype(ml_dtypes.bfloat16)
    ours = rounded(single)
    np.testing.assert_array_equal(np.asarray(ours), theirs.astype(np.float32))
    finite = ~np.isnan(single)
    np.testing.assert_array_equal(bits(ours)[finite], theirs.view(np.uint16)[finite])


def test_views_stay_what_they_are_and_bits_follow_their_order() -> None:
    made = rounded(np.arange(6.0).reshape(2, 3)).transpose(1, 0)
    assert isinstance(made, Bfloat16)
    assert bits(made).tolist() == rounded(np.arange(6.0).reshape(2, 3).T.copy()).view(np.uint32).__rshift__(
        np.uint32(16)
    ).tolist()  # fmt: skip
