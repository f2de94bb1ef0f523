"""Checks: a claim about a submission, with the way to test it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from judge_tui.checks.verdict import Curve, Evidence, Verdict, number, worst

if TYPE_CHECKING:
    from judge_tui.checks.bench import Bench

__all__ = ["Check", "Findings", "check"]

#: A check's body: measures on the bench, notes what it found, returns the summary.
Body = Callable[["Bench", "Findings"], str]


@dataclass(frozen=True, slots=True)
class Check:
    """A claim about a submission.

    Attributes:
        id: Public id, as TASKS.md lists it.
        title: A few words for a list.
        establishes: What a pass means, in one sentence.
        body: The test.
        version: Raised whenever verdicts may change; stored outcomes of older versions are not shown.
        budget: Seconds of the submission's own time until the check is stopped.
        roles: Roles that must be bound; ``unbound`` is reported before anything runs.
        optional: Whether the challenge leaves open what it looks at: a submission without it is ``skip``.
        host: Whether it is about files, or the submission's own programs: it runs on the CPU always.
        apart: Whether it uses no process that another check uses, and so may run beside the others.
        spared: Those of the roles that it can do without where nothing plays them.
    """

    id: str
    title: str
    establishes: str
    body: Body
    version: int = 1
    budget: float = 60.0
    roles: tuple[str, ...] = ()
    optional: bool = False
    host: bool = False
    apart: bool = False
    spared: tuple[str, ...] = ()


def check(
    id: str,
    title: str,
    *,
    establishes: str,
    version: int = 1,
    budget: float = 60.0,
    roles: Sequence[str] = (),
    optional: bool = False,
    host: bool = False,
    apart: bool = False,
    spared: Sequence[str] = (),
) -> Callable[[Body], Check]:
    """Make a :class:`Check` of a function ``(bench, findings) -> summary``."""

    def made(body: Body) -> Check:
        return Check(
            id, title, establishes, body, version, budget, tuple(roles), optional, host, apart, tuple(spared)
        )

    return made


class Findings:
    """Evidence as a check gathers it, and the verdict that follows.

    The verdict is the worst of what was noted; a check that notes nothing that decides
    anything has not established its claim, and the runner reports that as an engine error.
    """

    def __init__(self) -> None:
        self.evidence: list[Evidence] = []
        self._verdicts: list[Verdict] = []
        self._breaches: list[tuple[Verdict, Evidence]] = []
        self._about = ""

    def about(self, name: str) -> Findings:
        """The same findings, for what is noted of one of several: each quantity begins with its name."""
        part = copy.copy(self)
        part._about = f"{self._about}{name}: "  # noqa: SLF001 - of its own kind
        return part

    @property
    def verdict(self) -> Verdict | None:
        """The worst verdict so far; ``None`` while nothing was decided."""
        return worst(self._verdicts) if self._verdicts else None

    @property
    def wrong(self) -> Evidence | None:
        """The first figure beyond its limit, or statement that does not hold, of those that weigh most."""
        if not self._breaches:
            return None
        heaviest = worst([verdict for verdict, _ in self._breaches])
        return next(item for verdict, item in self._breaches if verdict is heaviest)

    def limit(
        self,
        quantity: str,
        measured: float,
        at_most: float,
        *,
        unit: str = "",
        otherwise: Verdict = Verdict.FAIL,
        **where: Any,
    ) -> bool:
        """Hold a figure against a limit; NaN never passes.

        Args:
            quantity: What was measured, with its metric and dtype.
            measured: The figure.
            at_most: The limit.
            unit: Its unit.
            otherwise: The verdict when it is over.
            where: ``file``, ``line``, ``note``, ``curve``, ``table``, ``output`` of the evidence.
        """
        return self.claim(
            quantity,
            bool(measured <= at_most),
            measured=measured,
            limit=at_most,
            unit=unit,
            otherwise=otherwise,
            **where,
        )

    def claim(
        self,
        quantity: str,
        ok: bool,
        *,
        measured: Any = None,
        limit: Any = None,
        unit: str = "",
        otherwise: Verdict = Verdict.FAIL,
        **where: Any,
    ) -> bool:
        """Decide by a statement that holds or not."""
        self._verdicts.append(Verdict.PASS if ok else otherwise)
        self._add(quantity, measured, limit, unit, bool(ok), where)
        if not ok:
            self._breaches.append((otherwise, self.evidence[-1]))
        return bool(ok)

    def note(
        self, quantity: str, measured: Any = None, *, limit: Any = None, unit: str = "", **where: Any
    ) -> None:
        """Add evidence that decides nothing."""
        self._add(quantity, measured, limit, unit, None, where)

    def conclude(self, verdict: Verdict) -> None:
        """Add a verdict that no single figure carries (``warn``, ``ambiguous``)."""
        self._verdicts.append(verdict)

    def _add(
        self, quantity: str, measured: Any, limit: Any, unit: str, ok: bool | None, where: dict[str, Any]
    ) -> None:
        curve = where.pop("curve", None)
        if curve is not None:
            curve = _finite(curve)
        named = f"{self._about}{quantity}"
        self.evidence.append(Evidence(named, number(measured), number(limit), unit, ok, curve=curve, **where))


def _finite(curve: Curve) -> Curve:
    """The curve as JSON can carry it."""
    points = tuple((float(x), float(y) if y is not None and isfinite(y) else None) for x, y in curve.points)
    return msgspec.structs.replace(curve, points=points)
