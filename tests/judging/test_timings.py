"""What was timed on different machines is nowhere compared; what is no timing is."""

from __future__ import annotations

import pytest

from judge_tui.checks.verdict import Curve, Evidence, Outcome, Verdict
from judge_tui.judging.timings import comparable, hosts_of, is_timing


@pytest.mark.parametrize(
    ("check", "item", "timed"),
    [
        ("cost", Evidence("seconds of a call", 1.0, unit="s"), True),
        ("cost", Evidence("rate", 1.0, unit="tokens/s"), True),
        ("throughput", Evidence("times as long as plain code", 1.0), True),
        ("growth", Evidence("a step", curve=Curve("tokens", "seconds of a step", ((1.0, 2.0),))), True),
        ("cost", Evidence("bytes held", 1.0, unit="B"), False),
        ("accuracy", Evidence("relative error", 1.0), False),
    ],
)
def test_what_hangs_on_the_machine(check: str, item: Evidence, timed: bool) -> None:
    assert is_timing(check, item) == timed


def judged(host: str, check: str = "cost") -> dict[str, Outcome]:
    items = (Evidence("seconds of a call", 1.0, unit="s"), Evidence("bytes held", 8, unit="B"))
    return {check: Outcome("m", "kv", check, Verdict.PASS, "said", 1.0, items, host=host)}


def quantities(found: list[dict[str, Outcome]]) -> list[list[str]]:
    return [[item.quantity for one in outcomes.values() for item in one.evidence] for outcomes in found]


def test_timings_of_different_hosts_are_left_out_and_all_else_stays() -> None:
    both = ["seconds of a call", "bytes held"]
    assert quantities(comparable([judged("a"), judged("a")])) == [both, both]
    assert quantities(comparable([judged("a"), judged("b")])) == [both[1:], both[1:]]
    # each check by itself
    assert quantities(comparable([judged("a"), judged("b", "growth")])) == [both, both]
    assert hosts_of([judged("a"), judged("b"), judged("a")]) == {"cost": ("a", "b")}
