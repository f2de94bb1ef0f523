"""Finding a submission's quantized cache: a class of its own, fed and read like the plain one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from judge_tui.checks.binding import Binding
from judge_tui.checks.faults import Fault
from judge_tui.checks.remote import Worker
from judge_tui.checks.tasks.kv import roles, trial
from judge_tui.checks.tasks.kv.signatures import Owner, matched
from judge_tui.checks.tasks.kv.wires import LAYOUTS, SOLO

__all__ = ["find", "roles_of"]

Inventories = Mapping[str, Mapping[str, Any]]
_ROLES = {role.name: role for role in roles.ROLES}
_PARTS = ("append", "read")
#: Eight bits are 1 % off, four bits 10 %; another reading of the interface is off by more than half.
_NEAR = 0.3


def roles_of(found: Mapping[str, Binding]) -> dict[str, Binding] | None:
    """The roles of the quantized cache under the plain ones' names; ``None`` when there is none."""
    if not all(name in found for name in ("quantized", *(f"quantized_{part}" for part in _PARTS))):
        return None
    return {"create": found["quantized"], **{part: found[f"quantized_{part}"] for part in _PARTS}}


def find(
    worker: Worker,
    loaded: Inventories,
    found: dict[str, Binding],
    rejected: dict[str, list[str]],
    fatal: dict[str, Fault],
) -> None:
    """Bind ``quantized`` with the calls that feed it and read it back.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        found: Role → binding; added to.
        rejected: Role → what was tried.
        fatal: Callables that ended the process; added to.
    """
    tried = rejected.setdefault("quantized", [])
    written = found.pop("quantized", None)
    options = [written] if written else matched(worker, loaded, roles.QUANTIZED, constructors=True)
    for create in options[:4]:
        try:
            owner = Owner.of(worker, loaded, create)
        except Fault as fault:
            if not worker.alive:
                raise
            tried.append(f"{create.target} {fault.message}")
            continue
        if settled := _settled(worker, loaded, create, owner, tried, fatal):
            found["quantized"] = create
            found.update({f"quantized_{part}": settled[part] for part in _PARTS})
            return


def _settled(
    worker: Worker,
    loaded: Inventories,
    create: Binding,
    owner: Owner,
    tried: list[str],
    fatal: dict[str, Fault],
) -> dict[str, Binding] | None:
    calls = {part: matched(worker, loaded, _ROLES[part], owner=owner, stateful=True)[:3] for part in _PARTS}
    for append in calls["append"]:
        for read in calls["read"]:
            for one in _orders(append):
                for other in _orders(read):
                    option = {"create": create, "append": one, "read": other}
                    result = trial.survived(fatal, option, partial(trial.steps, worker, option))
                    if result.ran and result.error <= _NEAR:
                        return option
            tried.append(f"{create.target}, {append.target}, {read.target}: {result.said or 'far off'}")
    return None


def _orders(binding: Binding) -> list[Binding]:
    layouts = SOLO[:3] if binding.takes("sequence") else LAYOUTS[:3]
    return [replace(binding, layout=layout) for layout in layouts]
