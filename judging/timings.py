"""Timings of different machines are never compared: where outcomes come from several, they are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from judge_tui.checks.verdict import Evidence, Outcome

__all__ = ["comparable", "hosts_of", "is_timing"]

_UNITS = frozenset({"s", "ms", "µs", "us", "ns", "min"})
#: The check that is about nothing else: its ratios are a machine's as well.
_TIMED = "throughput"


def is_timing(check: str, item: Evidence) -> bool:
    """Whether a figure hangs on the machine that it was taken on.

    Args:
        check: Id of the check that took it.
        item: The figure.
    """
    curve = item.curve is not None and item.curve.y.startswith("seconds")
    return check == _TIMED or curve or item.unit in _UNITS or item.unit.endswith("/s")


def hosts_of(found: Sequence[Mapping[str, Outcome]]) -> dict[str, tuple[str, ...]]:
    """Check → the machines that its outcomes come from, of checks whose timings cannot be compared.

    Args:
        found: Of each submission, check → outcome.
    """
    hosts: dict[str, dict[str, None]] = {}
    for outcomes in found:
        for check, outcome in outcomes.items():
            if any(is_timing(check, item) for item in outcome.evidence):
                hosts.setdefault(check, {})[outcome.host] = None
    return {check: tuple(names) for check, names in hosts.items() if len(names) > 1}


def comparable(found: Sequence[Mapping[str, Outcome]]) -> list[dict[str, Outcome]]:
    """The outcomes without what cannot be compared among them.

    Args:
        found: Of each submission, check → outcome.
    """
    several = hosts_of(found)
    return [
        {check: _untimed(one) if check in several else one for check, one in outcomes.items()}
        for outcomes in found
    ]


def _untimed(outcome: Outcome) -> Outcome:
    kept = tuple(item for item in outcome.evidence if not is_timing(outcome.check, item))
    return msgspec.structs.replace(outcome, evidence=kept)
