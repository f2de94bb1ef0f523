"""Finding which callable plays which role: by name and signature, confirmed by a small call.

A name alone never binds: every candidate is called on the contract's sample, and what
it gives must have the shapes that the contract asks for. What is right or wrong in the
numbers is the checks' business, not the binder's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from judge_tui.checks.binding.agreement import most_agreeing
from judge_tui.checks.binding.candidates import callables, candidates, name_score
from judge_tui.checks.binding.inventories import Casualties, Inventories, inventories
from judge_tui.checks.binding.meant import Refused
from judge_tui.checks.binding.meant import broken as broken_by
from judge_tui.checks.binding.open_roles import cause, seen, unreadable
from judge_tui.checks.binding.settling import settled
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.binding.written import completed, written
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Ended
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Contract, Role, Sample
from judge_tui.checks.faults import Fault, Unbound

__all__ = ["Bindings", "Casualties", "bind"]

_MOST_PROBES = 12


@dataclass(slots=True)
class Bindings:
    """What was bound, and why the rest was not.

    Attributes:
        found: Role → binding.
        rejected: Role → what was tried and how it failed.
        faults: Role → what the submission did that leaves it open: its files do not run, its call never ends.
        broken: Role → what the callable did that plays it beyond doubt, and in no way that was tried.
        loaded: File → what it defines, of the files that were imported.
        contract: What was asked for when they were found; ``None`` where nothing was looked for.
    """

    found: dict[str, Binding] = field(default_factory=dict)
    rejected: dict[str, list[str]] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    broken: dict[str, Fault] = field(default_factory=dict)
    loaded: Inventories = field(default_factory=dict)
    contract: Contract | None = None

    def __getitem__(self, role: str) -> Binding:
        """The binding of a role.

        Raises:
            Unbound: There is none.
            Fault: There is none because of what the submission did.
        """
        if role not in self.found and (fault := self.faults.get(role) or self.broken.get(role)):
            raise fault
        if role not in self.found:
            raise Unbound(role, self.rejected.get(role, ()))
        return self.found[role]

    def __contains__(self, role: str) -> bool:
        return role in self.found


def bind(
    worker: Worker,
    contract: Contract,
    sample: Sample,
    casualties: Casualties | None = None,
    *,
    without: Collection[str] = (),
    seed: int = 0,
) -> Bindings:
    """Find the callable of every role of a contract.

    Args:
        worker: Where the submission is.
        contract: What is looked for.
        sample: The contract's probe.
        casualties: What is left alone; what ends the process is added.
        without: Files in which no role is looked for.
        seed: Of the probe of a contract that asks in another way.

    Raises:
        WorkspaceError: A written binding names something that is not there.
        Fault: An import or a call ended the process.
    """
    casualties = casualties if casualties is not None else Casualties()
    loaded, broken = inventories(worker, casualties)
    loaded = {file: inventory for file, inventory in loaded.items() if file not in without}
    if contract.find is not None:
        return _together(worker, contract, loaded, broken, casualties)
    result = _in_a_layout(worker, contract, sample, loaded, broken, casualties)
    result = _or_of_objects(worker, contract, sample, result, broken, casualties)
    other = contract.otherwise
    while other is not None and len(other.roles) > len(result.found) and not _complete(result, contract):
        drawn = other.sample(np.random.default_rng(seed))
        found = _in_a_layout(worker, other, drawn, loaded, broken, casualties)
        if len(found.found) > len(result.found):
            return _with_open(found, result)
        other = other.otherwise
    return result


def _or_of_objects(
    worker: Worker,
    contract: Contract,
    sample: Sample,
    first: Bindings,
    broken: Mapping[str, Fault],
    casualties: Casualties,
) -> Bindings:
    """What methods alone play, where that is more: a function beside a class may do a part of its work.

    Once a function plays the forward that a class's own calls, nothing calls that one before its backward.
    """
    if _complete(first, contract) or not _helped(first, contract):
        return first
    methods = {file: {**inventory, "functions": []} for file, inventory in first.loaded.items()}
    found = _in_a_layout(worker, contract, sample, methods, broken, casualties)
    return replace(found, loaded=first.loaded) if len(found.found) > len(first.found) else first


def _helped(result: Bindings, contract: Contract) -> bool:
    """Whether a function plays a role, and one that is open has the name of a method."""
    still = [role for role in contract.roles if role.name not in result]
    routines = [each for each in callables(result.loaded) if each.owner is not None]
    by_name = any(name_score(each.name, role) is not None for role in still for each in routines)
    return by_name and any("." not in binding.name for binding in result.found.values())


def _complete(result: Bindings, contract: Contract) -> bool:
    """Whether no further search can find more."""
    return bool(result.faults) or all(role.name in result for role in contract.roles)


def _with_open(found: Bindings, first: Bindings) -> Bindings:
    """What was found another way, with why the roles are open that are asked for in the first one alone."""
    rejected, broken = {**first.rejected, **found.rejected}, {**first.broken, **found.broken}
    return replace(found, rejected=rejected, broken=broken)


def _in_a_layout(
    worker: Worker,
    contract: Contract,
    sample: Sample,
    loaded: Inventories,
    broken: Mapping[str, Fault],
    casualties: Casualties,
) -> Bindings:
    """Bindings in the contract's own axes, else in the first of its layouts that more is found in."""
    result = _one_by_one(worker, contract, sample, loaded, broken, casualties)
    for layout in contract.layouts:
        if result.faults or all(role.name in result for role in contract.roles):
            break
        other = _one_by_one(worker, contract, sample, loaded, broken, casualties, layout)
        if len(other.found) > len(result.found):
            return other
    return result


def _one_by_one(
    worker: Worker,
    contract: Contract,
    sample: Sample,
    loaded: Inventories,
    broken: Mapping[str, Fault],
    casualties: Casualties,
    layout: str = "",
) -> Bindings:
    """Bindings of a contract whose roles follow each other, arrays handed over in a layout."""
    result = Bindings(loaded=loaded, contract=contract)
    inputs = dict(sample.inputs)
    for role in contract.roles:
        fatal = casualties.calls.setdefault(f"{role.name} {layout}".strip(), {})
        notes = result.rejected[role.name] = [
            *unreadable(worker.submission, broken),
            *(f"{called} {fault.message}" for called, fault in fatal.items()),
        ]
        likely = _ranked(worker, loaded, role, result.found, inputs, layout)
        ranked = [binding for binding in likely if binding.target not in fatal]
        try:
            refused: list[Refused] = []
            found = _played(worker, role, ranked, inputs, sample, loaded, notes, refused, fatal)
        except Ended as ended:
            fatal[ended.called] = ended.fault
            raise ended.fault from ended
        if found:
            result.found[role.name] = found
        elif fault := cause(worker.submission, loaded, broken, fatal, notes, contract.packages):
            result.faults[role.name] = fault
        elif fault := broken_by(worker.submission, loaded, role, refused):
            result.broken[role.name] = fault
        elif not ranked:
            notes += seen(loaded, (role,), role.sought)
        elif role.sought:
            notes.insert(0, role.sought)
    return result


def _together(
    worker: Worker,
    contract: Contract,
    loaded: Inventories,
    broken: Mapping[str, Fault],
    casualties: Casualties,
) -> Bindings:
    """Bindings of a contract that finds its roles itself, what is written by hand given to it."""
    assert contract.find is not None
    result = Bindings(loaded=loaded, contract=contract)
    by_hand = ((role, written(worker.submission, role, loaded)) for role in contract.roles)
    result.found.update({role.name: binding for role, binding in by_hand if binding})
    told = unreadable(worker.submission, broken)
    result.rejected.update({role.name: list(told) for role in contract.roles})
    fatal = casualties.calls.setdefault("", {})
    contract.find(Search(worker, loaded, result.found, result.rejected, fatal, result.broken))
    for name, notes in result.rejected.items():
        fault = cause(worker.submission, loaded, broken, fatal, notes, contract.packages)
        if name not in result.found and fault is not None:
            result.faults[name] = fault
        elif name not in result.found and not notes:
            notes.extend(seen(loaded, contract.roles))
    return result


def _ranked(
    worker: Worker,
    loaded: Inventories,
    role: Role,
    found: Mapping[str, Binding],
    inputs: Mapping[str, Any],
    layout: str,
) -> list[Binding]:
    """What may play a role, likeliest first; what is written by hand to the end keeps its layout."""
    by_hand = written(worker.submission, role, loaded)
    if by_hand is None:
        options = list(candidates(worker, loaded, role, found, inputs))
    else:
        options = completed(worker, loaded, role, by_hand, found, inputs)
    loose = frozenset(item.name for item in role.returns if item.loose)
    likeliest = sorted(options, key=lambda option: option.score)[:_MOST_PROBES]
    return [
        replace(b, loose=loose, layout=b.layout or (layout if b is not by_hand else ""))
        for b in (option.binding for option in likeliest)
    ]


def _played(
    worker: Worker,
    role: Role,
    ranked: list[Binding],
    inputs: dict[str, Any],
    sample: Sample,
    loaded: Inventories,
    notes: list[str],
    refused: list[Refused],
    fatal: Mapping[str, Fault],
) -> Binding | None:
    """The candidate that answers as the role does; why the others do not is added to ``notes``."""
    if role.agrees is not None:
        return most_agreeing(worker, role, ranked, inputs, loaded, notes, refused, fatal)
    found = settled(worker, role, ranked, inputs, sample.shapes, refused, sample.truths)
    notes += [f"{binding.target} {fault.placed}" for binding, fault in refused]
    return found
