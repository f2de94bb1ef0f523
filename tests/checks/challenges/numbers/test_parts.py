"""Several numbers of one answer have limits of their own."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Together

CHALLENGE = """
RESULTS = ["mean", "total", "size"]
TOLERANCE = {"total": 1e-2}
def reference(x): return float(x.mean()), float(x.sum() * 1e9), x.size
def inputs(rng, n): return {"x": rng.standard_normal(n) + 3}
CASES = [dict(n=5), dict(n=50)]
"""
ANSWER = "def double(x): return x.mean(), x.sum() * 1e9, x.size\n"


def test_each_part_is_held_to_its_own_size_and_limit(together: Together) -> None:
    found = together(
        CHALLENGE,
        {
            "rough_total": ANSWER.replace("1e9", "1.001e9"),
            "a_record": "from collections import namedtuple\nGave = namedtuple('Gave', 'size total mean')\n"
            "def double(x): return Gave(x.size, x.sum() * 1e9, x.mean())\n",
            "rough_mean": ANSWER.replace("x.mean()", "x.mean() * (1 + 1e-7)"),
            "too_few": ANSWER.replace(", x.size", ""),
            "another_size": ANSWER.replace("x.size", "x.size + 1"),
        },
    )
    verdicts = {name: (outcome.verdict, outcome.summary) for name, outcome in found.items()}
    assert verdicts["rough_total"][0] is verdicts["a_record"][0] is Verdict.PASS, verdicts
    assert all(verdicts[each][0] is Verdict.FAIL for each in ("rough_mean", "too_few", "another_size")), (
        verdicts
    )
    assert verdicts["another_size"][1].startswith("size has 6 instead of 5")
