"""The path that wrong answers alone take is told, and none where there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judge_tui.checks.answers import Answers
from judge_tui.checks.faults import Raised
from judge_tui.checks.paths.counting import SEEN, counting
from judge_tui.checks.paths.guards import guard
from judge_tui.checks.paths.localizing import QUANTITY
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Outcome, Verdict

SOURCE = """import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    if x.shape[-1] > 40:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = WIDE
    else:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = NARROW
    rstd = 1.0 / np.sqrt(variance + eps)
    x_hat = centred * rstd
    return x_hat * gamma + beta, (x_hat, rstd, gamma)


def layernorm_backward(dy, cache):
    x_hat, rstd, gamma = cache
    g = dy * gamma
    along = (g * x_hat).mean(axis=-1, keepdims=True)
    dx = rstd * (g - g.mean(axis=-1, keepdims=True) - x_hat * along)
    return dx, (dy * x_hat).sum(axis=(0, 1)), dy.sum(axis=(0, 1))
"""
RIGHT = "(centred**2).mean(axis=-1, keepdims=True)"
WRONG = "(centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)"
Submit = Callable[..., Submission]


def outcome(submitted: Submit, *, wide: str, narrow: str) -> Outcome:
    made = submitted({"layer_norm.py": SOURCE.replace("WIDE", wide).replace("NARROW", narrow)})
    submission = Submission("someone", "backwards", made.path)
    return judge(load_task("backwards"), submission, seed=3, checks=["forward_accuracy"])["forward_accuracy"]


def path(found: Outcome) -> tuple[str | None, int | None]:
    (item,) = [item for item in found.evidence if item.quantity == QUANTITY]
    return item.file, item.line


def test_the_branch_of_wide_rows_is_told(submitted: Submit) -> None:
    found = outcome(submitted, wide=WRONG, narrow=RIGHT)
    assert found.verdict is Verdict.FAIL
    assert "wrong where layer_norm.py:6 runs (if x.shape[-1] > 40), and only there" in found.summary
    assert path(found) == ("layer_norm.py", 6)


def test_the_branch_of_narrow_rows_is_told(submitted: Submit) -> None:
    found = outcome(submitted, wide=RIGHT, narrow=WRONG.replace("- 1", "+ 1"))
    assert "layer_norm.py:9 runs (else of if x.shape[-1] > 40)" in found.summary
    assert path(found) == ("layer_norm.py", 9)


def test_a_branch_that_raises_is_told_by_what_runs_before(submitted: Submit) -> None:
    found = outcome(submitted, wide=f"{RIGHT} + np.ones(3)[x.shape[-1]]", narrow=RIGHT)
    assert "raised IndexError" in found.summary
    assert path(found) == ("layer_norm.py", 6)


@pytest.mark.parametrize("variance", [RIGHT, WRONG])
def test_no_path_is_told_where_all_answers_are_alike(submitted: Submit, variance: str) -> None:
    found = outcome(submitted, wide=variance, narrow=variance)
    assert found.verdict is (Verdict.PASS if variance == RIGHT else Verdict.FAIL)
    assert not [item for item in found.evidence if item.quantity == QUANTITY]
    assert "layer_norm.py:" not in found.summary


def test_one_answer_raises_and_another_is_open() -> None:
    answers = Answers()
    with pytest.raises(Raised), answers.one():
        raise Raised("ValueError", "no")
    with answers.one():
        pass
    with answers.one() as last:
        last.fine = True
    told = [(each.fine, each.raised) for each in answers.asked]
    assert told == [(False, True), (None, False), (True, False)]
    assert (answers.wrong, answers.right, len(answers.answered)) == (1, 1, 2)


COUNTED = '''"""Words."""
from __future__ import annotations

def f(n):
    total = 0
    while n:
        n -= 1
        total += n
    return total
'''


def test_what_counts_its_lines_computes_the_same() -> None:
    names: dict[str, Any] = {}
    exec(counting(COUNTED), names)
    assert names["f"](0) == 0
    assert set(names[SEEN]) >= {5, 6, 9}
    assert not {7, 8} & set(names[SEEN])
    assert names["f"](3) == 3
    assert {7, 8} <= set(names[SEEN])


GUARDED = """def f(x):
    if x:
        a = 1
        for i in x:
            b = 2
    elif x is None:
        c = 3
    while x < 5 and not x == 7 and x in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14):
        d = 4
g = 5
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (2, "in f()"),
        (3, "if x"),
        (5, "for i in x"),
        (7, "if x is None"),
        (9, "while x < 5 and (not x == 7) and (x in (1, 2, 3, 4, 5, 6, 7…"),
        (10, ""),
    ],
)
def test_what_leads_to_a_line(line: int, said: str) -> None:
    assert guard(GUARDED, line) == said
