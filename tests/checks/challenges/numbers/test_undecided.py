"""What rounding decides, and what overflows in float32, fails no right answer and passes no wrong one."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.challenges.numbers.comparing import compared
from judge_tui.checks.challenges.numbers.undecided import allowing
from judge_tui.checks.verdict import Verdict

from .conftest import Together

CHALLENGE = """
import numpy as np
def reference(x): return np.rint(x * 1000).astype(int), np.exp(x * 60)
def inputs(rng, n): return {"x": np.clip(rng.standard_normal(n), -2.0, 2.0)}
CASES = [dict(n=5000), dict(n=9000)]
"""
ANSWER = """
import numpy as np
def double(x): return np.floor(x * 1000 + 0.5), np.exp(x * 60)
"""


def test_entries_that_the_reference_itself_gives_otherwise(together: Together) -> None:
    found = together(
        CHALLENGE,
        {
            "right": ANSWER,
            "one_more": ANSWER.replace("+ 0.5)", "+ 0.5) + (x.dtype == np.float32)"),
            "capped": ANSWER.replace("np.exp(x * 60)", "np.minimum(np.exp(x * 60), 1e30)"),
        },
    )
    assert found["right"].verdict is Verdict.PASS, found["right"].summary
    assert found["one_more"].verdict is Verdict.FAIL
    assert found["capped"].verdict is Verdict.FAIL


DOMAIN = """
import math
def reference(x): return [math.acos(float(v)) for v in x]
def inputs(rng, n): return {"x": rng.choice([-1.0, 0.5, 1.0], n)}
CASES = [dict(n=5)]
"""


def test_inputs_at_the_end_of_what_the_reference_takes(together: Together) -> None:
    found = together(
        DOMAIN, {"right": "import numpy as np\ndef double(x): return np.arccos(x.astype('f8'))\n"}
    )
    assert found["right"].verdict is Verdict.PASS, found["right"].summary


@pytest.mark.parametrize(
    ("out", "truth", "losses", "fine"),
    [
        ([4, 7], [4, 8], [[4, 7]], True),
        ([4, 7], [4, 8], [[4, 8]], False),
        ([1, 7], [4, 8], [[4, 7]], False),
        ([4.0, 7.5], [4, 8], [[4, 7]], False),
        ([4, 7], [4, 8], [], False),
        ([4, 7], [4, 8], [[4, 7, 1]], False),
        ([1.0, np.inf], [1.0, 1e300], [[1.0, np.inf]], True),
        ([1.0, np.nan], [1.0, 1e300], [[1.0, np.inf]], False),
        ([2.0, np.inf], [1.0, 1.0], [[1.0, np.inf]], False),
        ([1.0, np.inf], [1.0, 1e300], [], False),
    ],
)
def test_no_more_is_allowed_than_the_reference_shows(
    out: list[float], truth: list[float], losses: list[list[float]], *, fine: bool
) -> None:
    mine, right = np.array(out), np.array(truth)
    found = allowing(compared(mine, right), mine, right, [np.array(each) for each in losses])
    assert (found.error < 1e-6) is fine
