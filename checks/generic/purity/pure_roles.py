"""The check: every pure role on trial, then alone in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import Skipped
from judge_tui.checks.generic.purity.alike import close
from judge_tui.checks.generic.purity.inputs import Inputs
from judge_tui.checks.generic.purity.trial import Given, Trial

__all__ = ["purity"]

_MOST_DRAWS = 8


@check(
    "purity",
    "arguments and repeats",
    establishes="Arguments stay as they are, a second call gives the same bits, no order of calls matters.",
    version=9,
)
def purity(bench: Bench, found: Findings) -> str:
    """Call every pure role twice with a call on another input between, and that one in another process."""
    roles = _pure(bench)
    ours, others = _apart(bench)
    trials = [Trial(bench, found, role, roles[:index], ours, others) for index, role in enumerate(roles)]
    given = {trial.role.name: trial.run() for trial in trials}
    _alone(bench, found, trials, given)
    bad = [item for item in found.evidence if item.ok is False]
    if bad:
        return f"{bad[0].quantity}: {bad[0].measured}"
    return f"{', '.join(role.name for role in roles)}: arguments untouched, repeats bit for bit"


def _pure(bench: Bench) -> list[Role]:
    """The pure roles that are bound.

    Raises:
        Unbound: No role of the task was found.
        Skipped: Those that were found keep state by design.
    """
    pure = [role for role in bench.contract.roles if role.pure]
    bound = [role for role in pure if role.name in bench.bindings]
    if not bound:
        if pure and not any(role.name in bench.bindings for role in bench.contract.roles):
            bench.binding(next((role for role in pure if role.required), pure[0]).name)
        raise Skipped("every role of this task that was found keeps state by design")
    return bound


def _apart(bench: Bench) -> tuple[Inputs, Inputs]:
    """Two draws as unlike as the contract's sample makes them: what is kept shows in the answers."""
    ours = Inputs.drawn(bench, "inputs")
    draws: list[Inputs] = []
    for attempt in range(_MOST_DRAWS):
        draws.append(Inputs.drawn(bench, f"other {attempt}"))
        if not draws[-1].likeness(ours):
            break
    return ours, min(draws, key=ours.likeness)


def _alone(bench: Bench, found: Findings, trials: Sequence[Trial], given: Mapping[str, Given]) -> None:
    """Hold the answers against those of a process that has seen no other call."""
    with bench.fresh() as worker:
        alike = dict.fromkeys(given, True)
        # The other way round: what an earlier call left behind is the wrong thing for one of them.
        for index, draw in ((1, trials[0].others), (0, trials[0].ours)):
            fresh = Inputs.drawn(bench, draw.stream)
            for trial in trials:
                role = trial.role
                returned = bench.call(role.name, fresh.values, worker=worker)
                fine = close(fresh.answers(role, returned), given[role.name].answers[index])
                alike[role.name] = alike[role.name] and fine
                fresh.keep(role, returned)
        for name, fine in alike.items():
            told, where = (
                "same answer" if fine else "another answer than after other calls",
                bench.binding(name),
            )
            found.claim(
                f"{name} in a process of its own", fine, measured=told, limit="same answer",
                file=where.file, line=where.line or None,
            )  # fmt: skip
        fresh = Inputs.drawn(bench, "inputs")
        for trial in trials:
            if crossed := given[trial.role.name].crossed:
                fresh.renew(bench, trial.role, trial.earlier, worker)
                trial.alone(crossed, fresh, worker)
