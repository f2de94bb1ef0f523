from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks import events
from judge_tui.checks.check import Findings
from judge_tui.checks.verdict import SEVERITY, Curve, Evidence, Outcome, Verdict, number, worst


@given(st.lists(st.sampled_from(list(Verdict))))
def test_the_worst_verdict_is_the_most_severe_one_and_pass_when_there_is_none(
    verdicts: list[Verdict],
) -> None:
    found = worst(verdicts)
    assert all(SEVERITY[found] <= SEVERITY[verdict] for verdict in verdicts)
    assert found in (verdicts or [Verdict.PASS])


def test_every_verdict_has_a_severity() -> None:
    assert set(SEVERITY) == set(Verdict)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, None), ("x", "x"), (True, "true"), (np.bool_(False), "false"), (3, 3), (np.int64(3), 3),
        (np.int64(2**62 + 1), 2**62 + 1), (10**30, str(10**30)), (0.5, 0.5), (np.float32(0.5), 0.5),
        (math.nan, "NaN"), (math.inf, "inf"), (np.float64(-math.inf), "-inf"),
    ],
)  # fmt: skip
def test_any_scalar_becomes_what_json_can_carry(value: Any, told: Any) -> None:
    assert number(value) == told
    assert type(number(value)) is type(told)
    assert msgspec.json.decode(msgspec.json.encode(number(value))) == told


@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.floats())))
def test_an_outcome_with_any_curve_survives_the_wire(points: list[tuple[float, float]]) -> None:
    found = Findings()
    found.note("error over offsets", math.nan, curve=Curve("x", "y", tuple(points)))
    outcome = Outcome("m", "t", "c", Verdict.PASS, "s", 0.1, tuple(found.evidence))
    event = events.Finished(outcome, cached=True)
    assert events.decode(events.encode(event)) == event
    curve = found.evidence[0].curve
    assert curve is not None
    assert [y for _x, y in curve.points] == [y if math.isfinite(y) else None for _x, y in points]


def test_nothing_but_a_figure_within_its_limit_passes() -> None:
    found = Findings()
    assert found.verdict is None
    assert found.limit("a", 1.0, 2.0)
    assert found.verdict is Verdict.PASS
    assert not found.limit("b", math.nan, 2.0, otherwise=Verdict.WARN)
    assert found.verdict is Verdict.WARN
    assert not found.limit("c", 1.0, math.nan)
    assert found.verdict is Verdict.FAIL
    assert [item.ok for item in found.evidence] == [True, False, False]


def test_a_note_decides_nothing() -> None:
    found = Findings()
    found.note("only a figure", 3)
    assert found.verdict is None
    found.conclude(Verdict.AMBIGUOUS)
    assert found.verdict is Verdict.AMBIGUOUS


def test_what_is_wrong_is_the_first_figure_that_set_the_verdict() -> None:
    found = Findings()
    assert found.wrong is None
    found.limit("coarse", 3.0, 2.0, otherwise=Verdict.WARN)
    assert found.wrong is found.evidence[0]
    found.limit("off", 3.0, 2.0)
    found.limit("further off", 9.0, 2.0)
    assert found.wrong is found.evidence[1]


def test_the_location_is_that_of_the_worst_evidence() -> None:
    def outcome(*evidence: Evidence) -> Outcome:
        return Outcome("m", "t", "c", Verdict.FAIL, "s", 0.1, evidence)

    good = Evidence("good", ok=True, file="a.py", line=1)
    bad = Evidence("bad", ok=False, file="a.py", line=2)
    assert outcome(good, bad).location == ("a.py", 2)
    assert outcome(good, Evidence("bad", ok=False)).location == ("a.py", 1)
    assert outcome(Evidence("none", file="a.py")).location is None
