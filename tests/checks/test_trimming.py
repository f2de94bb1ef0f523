"""Outcomes have a bounded size, whatever a submission says, and so has the place where they are kept."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks import store as stores
from judge_tui.checks.store import Store
from judge_tui.checks.trimming import MOST_BYTES, trimmed
from judge_tui.checks.verdict import Curve, Evidence, Outcome, Verdict

LONG = "é" * 9_000_000


def outcome(*evidence: Evidence, summary: str = "") -> Outcome:
    return Outcome("model", "task", "check", Verdict.FAIL, summary, 1.0, evidence)


def size(one: Outcome) -> int:
    return len(msgspec.json.encode(one))


@pytest.mark.parametrize(
    "one",
    [
        outcome(summary=LONG),
        outcome(*[Evidence("q", output=LONG[:200_000], note=LONG[:90_000])] * 60),
        outcome(*[Evidence(LONG[:100_000], measured=LONG[:100_000], limit=LONG[:9000])] * 5000),
        outcome(Evidence("q", table=((LONG[:2000],) * 300,) * 3000)),
        outcome(Evidence("q", curve=Curve("x", "y", tuple((float(n), 1.0) for n in range(300_000))))),
        outcome(*[Evidence("q", table=(("é" * 400,) * 40,) * 400)] * 300),
    ],
)
def test_no_outcome_is_larger_than_it_may_be(one: Outcome) -> None:
    cut = trimmed(one)
    assert size(cut) <= MOST_BYTES
    assert (cut.verdict, cut.check) == (one.verdict, one.check)
    assert cut.evidence or not one.evidence


def test_what_decided_is_kept_before_the_rest() -> None:
    idle = [Evidence(f"idle {n}") for n in range(1000)]
    one = outcome(*idle, Evidence("error", 0.5, 0.1, ok=False, file="a.py", line=3))
    assert trimmed(one).location == ("a.py", 3)
    assert trimmed(one).evidence[0].measured == 0.5


@given(
    st.lists(st.builds(Evidence, st.text(max_size=60), st.floats(allow_nan=False), note=st.text(max_size=90)))
)
def test_what_is_of_usual_size_stays_as_it_is(evidence: list[Evidence]) -> None:
    one = outcome(*evidence[:100], summary="0.5 (limit 0.1)")
    assert trimmed(one) == one


def test_a_cut_text_says_how_much_more_there_was() -> None:
    assert trimmed(outcome(summary="x" * 5000)).summary.endswith("x… (3,000 characters more)")


def test_what_is_kept_of_outcomes_is_bounded_and_the_oldest_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "MOST_BYTES", 4000)
    for n in range(10):
        Store(tmp_path).keep([outcome(summary="x" * 500)], f"key{n}")
        path = tmp_path / "outcomes" / f"key{n}.json"
        os.utime(path, (1000 + n, 1000 + n))
    Store(tmp_path).keep([outcome(summary="newest")], "newest")
    kept = {path.name for path in (tmp_path / "outcomes").iterdir()}
    assert sum(path.stat().st_size for path in (tmp_path / "outcomes").iterdir()) <= 4000
    assert {"newest.json", "key9.json"} <= kept
    assert "key0.json" not in kept


def test_what_was_found_of_late_stays_for_a_run_that_goes_on_with_it_up_to_a_bound_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "MOST_BYTES", 1000)
    monkeypatch.setattr(stores, "MOST_OF_LATE", 4000)

    def kept() -> set[str]:
        Store(tmp_path).keep([outcome(summary="x" * 500)], f"key{len(list(tmp_path.glob('*/*')))}")
        return {path.stem for path in (tmp_path / "outcomes").iterdir()}

    for _ in range(4):
        found = kept()
    assert found == {"key0", "key1", "key2", "key3"}
    old = tmp_path / "outcomes" / "key2.json"
    os.utime(old, (1000, 1000))
    assert kept() == {"key0", "key1", "key3", "key4"}
    for _ in range(6):
        found = kept()
    assert sum(path.stat().st_size for path in (tmp_path / "outcomes").iterdir()) <= 4000
