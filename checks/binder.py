"""Finding which callable plays which role: by name and signature, confirmed by a small call.

A name alone never binds: every candidate is called on the contract's sample, and what
it gives must have the shapes that the contract asks for. What is right or wrong in the
numbers is the checks' business, not the binder's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from judge_tui.checks.agreement import most_agreeing
from judge_tui.checks.attributes import with_attributes
from judge_tui.checks.binding import Argument, Binding, Source, parse_binding
from judge_tui.checks.calls import Ended, Returned, invoke
from judge_tui.checks.candidates import Candidate, callables, candidates
from judge_tui.checks.contract import Contract, Role, Sample
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.faults import BadResult, Fault, Raised, Skipped, Unbound
from judge_tui.checks.remote import Worker
from judge_tui.checks.results import by_name, returns
from judge_tui.checks.sources import fence_line, fenced, is_side_program, python_files
from judge_tui.checks.submission import ADAPTER, META, Submission

__all__ = ["Bindings", "Casualties", "bind"]

_PROBE_BUDGET = 10.0
_MOST_PROBES = 12
_MOST_SEEN = 8


@dataclass(slots=True)
class Casualties:
    """What ended a process while roles were looked for, so that the next search leaves it alone.

    Attributes:
        files: File → what its import did.
        calls: Role → ``file.py:name`` → what calling it did.
    """

    files: dict[str, Fault] = field(default_factory=dict)
    calls: dict[str, dict[str, Fault]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files) + sum(map(len, self.calls.values()))


@dataclass(slots=True)
class Bindings:
    """What was bound, and why the rest was not.

    Attributes:
        found: Role → binding.
        rejected: Role → what was tried and how it failed.
        faults: Role → what the submission did that leaves it open: its files do not run, its call never ends.
    """

    found: dict[str, Binding] = field(default_factory=dict)
    rejected: dict[str, list[str]] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)

    def __getitem__(self, role: str) -> Binding:
        """The binding of a role.

        Raises:
            Unbound: There is none.
            Fault: There is none because of what the submission did.
        """
        if role not in self.found and role in self.faults:
            raise self.faults[role]
        if role not in self.found:
            raise Unbound(role, self.rejected.get(role, ()))
        return self.found[role]

    def __contains__(self, role: str) -> bool:
        return role in self.found


def inventories(
    worker: Worker, casualties: Casualties | None = None
) -> tuple[dict[str, Mapping[str, Any]], dict[str, Fault]]:
    """Import the files that may hold roles: not tests, demos and benchmarks, unless there is nothing else.

    Args:
        worker: Where the submission is.
        casualties: Files that are not tried again; one that ends the process is added.

    Returns:
        File → inventory, and file → why it could not be imported.
    """
    files = python_files(worker.submission)
    main = [file for file in files if not is_side_program(file)] or list(files)
    loaded: dict[str, Mapping[str, Any]] = {}
    casualties = casualties if casualties is not None else Casualties()
    broken = dict(casualties.files)
    for file in [*main, *([ADAPTER] if worker.submission.adapter else [])]:
        if file in casualties.files:
            continue
        try:
            loaded[file] = worker.load(file)
        except Fault as fault:
            broken[file] = fault
            if not worker.alive:
                casualties.files[file] = fault
                raise
    return loaded, broken


def bind(
    worker: Worker, contract: Contract, sample: Sample, casualties: Casualties | None = None
) -> Bindings:
    """Find the callable of every role of a contract.

    Args:
        worker: Where the submission is.
        contract: What is looked for.
        sample: The contract's probe.
        casualties: What is left alone; what ends the process is added.

    Raises:
        WorkspaceError: A written binding names something that is not there.
        Fault: An import or a call ended the process.
    """
    casualties = casualties if casualties is not None else Casualties()
    loaded, broken = inventories(worker, casualties)
    result = Bindings()
    if contract.find is not None:
        written_by_hand = ((role, _written(worker.submission, role, loaded)) for role in contract.roles)
        result.found.update({role.name: binding for role, binding in written_by_hand if binding})
        told = _broken(worker.submission, broken)
        result.rejected.update({role.name: list(told) for role in contract.roles})
        fatal = casualties.calls.setdefault("", {})
        contract.find(worker, loaded, result.found, result.rejected, fatal)
        for name, notes in result.rejected.items():
            cause = _cause(worker.submission, loaded, broken, fatal, notes)
            if name not in result.found and cause is not None:
                result.faults[name] = cause
            elif name not in result.found and not notes:
                notes += _seen(loaded)
        return result
    inputs = dict(sample.inputs)
    for role in contract.roles:
        fatal = casualties.calls.setdefault(role.name, {})
        notes = result.rejected[role.name] = [
            *_broken(worker.submission, broken),
            *(f"{called} {fault.message}" for called, fault in fatal.items()),
        ]
        written = _written(worker.submission, role, loaded)
        if written is None:
            options = list(candidates(worker, loaded, role, result.found, inputs))
        else:
            options = _completed(worker, loaded, role, written, result.found, inputs)
        ranked = [_loose(o.binding, role) for o in sorted(options, key=lambda c: c.score)[:_MOST_PROBES]]
        ranked = [binding for binding in ranked if binding.target not in fatal]
        try:
            if role.agrees is not None:
                settled = most_agreeing(worker, role, ranked, inputs, loaded, notes)
            else:
                settled = _settled(worker, role, ranked, inputs, sample.shapes, notes)
        except Ended as ended:
            fatal[ended.binding.target] = ended.fault
            raise ended.fault from ended
        if settled:
            result.found[role.name] = settled
        elif cause := _cause(worker.submission, loaded, broken, fatal, notes):
            result.faults[role.name] = cause
        elif not ranked:
            notes += _seen(loaded)
    return result


def _seen(loaded: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The callables that are there, none of which looks like the role."""
    seen = [f"{c.file}:{c.name}({', '.join(p['name'] for p in c.params)})" for c in callables(loaded)]
    more = f" and {len(seen) - _MOST_SEEN} more" if len(seen) > _MOST_SEEN else ""
    return [f"saw {', '.join(seen[:_MOST_SEEN])}{more}, of other names or parameters"] if seen else []


def _broken(submission: Submission, broken: Mapping[str, Fault]) -> list[str]:
    """What stands in the way of reading the files, as notes."""
    notes = [
        f"{file} is Markdown with a code fence (line {line}), not Python"
        if _kind(fault) == "SyntaxError" and (line := fence_line(submission.read_text(file)))
        else f"{file} {fault.message}"
        for file, fault in broken.items()
    ]
    if not python_files(submission) and (found := fenced(submission)):
        notes.append(f"its code stands in a Markdown fence ({found[0]}:{found[1]}), not in a Python file")
    return notes


def _cause(
    submission: Submission,
    loaded: Mapping[str, Mapping[str, Any]],
    broken: Mapping[str, Fault],
    fatal: Mapping[str, Fault],
    notes: Sequence[str],
) -> Fault | None:
    """What the submission did that leaves a role open; ``None`` when it may only be spelled unusually."""
    missing = {name for inventory in loaded.values() for name in inventory.get("missing", {})}
    for name in re.findall(r"raised ModuleNotFoundError: No module named '(\w+)", "\n".join(notes)):
        if name in missing or not loaded:
            return Skipped(f"needs the module '{name}', which is not installed")
    for fault in fatal.values():
        return fault
    for file, fault in broken.items():
        if not loaded and not (_kind(fault) == "SyntaxError" and fence_line(submission.read_text(file))):
            return fault
    return None


def _kind(fault: Fault) -> str:
    return fault.kind if isinstance(fault, Raised) else ""


def _settled(
    worker: Worker,
    role: Role,
    ranked: Sequence[Binding],
    inputs: dict[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    notes: list[str],
) -> Binding | None:
    """The first candidate that answers in the contract's shapes, else as lists, else by its names alone."""
    misshapen: list[tuple[Binding, Returned]] = []
    for binding in ranked:
        settled = _probed(worker, role, binding, inputs, shapes, misshapen)
        if isinstance(settled, Binding):
            return settled
        notes.append(f"{binding.target} {settled}")
    for binding, returned in misshapen[:1]:
        _keep_handles(role, returned, inputs)
        return binding
    for binding in ranked[:3]:
        settled = _probed(worker, role, _as_lists(binding, inputs), inputs, shapes, [])
        if isinstance(settled, Binding):
            return settled
    return None


def _loose(binding: Binding, role: Role) -> Binding:
    return replace(binding, loose=frozenset(item.name for item in role.returns if item.loose))


def _as_lists(binding: Binding, inputs: Mapping[str, Any]) -> Binding:
    def nested(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
        return tuple(
            replace(a, form="lists") if isinstance(inputs.get(a.source), np.ndarray) and not a.form else a
            for a in arguments
        )

    init = None if binding.init is None else nested(binding.init)
    return replace(binding, args=nested(binding.args), init=init)


def _written(submission: Submission, role: Role, loaded: Mapping[str, Mapping[str, Any]]) -> Binding | None:
    """The binding that ``adapter.py`` or ``submission.toml`` states, the adapter winning."""
    for function in loaded.get(ADAPTER, {}).get("functions", ()):
        if function["name"] == role.name:
            given = [r for r in role.returns if r.kind != "self"]
            names = {param["name"] for param in function["params"] or ()}
            args = tuple(Argument(p.name, p.name) for p in role.params if p.name in names)
            returns = {
                r.name: Source("result", (("i", i),) if len(given) > 1 else ()) for i, r in enumerate(given)
            }
            return Binding(
                role.name, ADAPTER, role.name, args, returns, origin=ADAPTER, why="written by hand"
            )
    table = submission.meta.binding.get(role.name)
    if table is None:
        return None
    binding = parse_binding(role.name, table, file=str(submission.path / META))
    if binding.file not in submission.files and binding.file != ADAPTER:
        raise WorkspaceError(
            f"[binding.{role.name}] names '{binding.file}', which is not in the submission",
            file=submission.path / META,
        )
    return replace(binding, why="written by hand", line=_line(loaded, binding))


def _completed(
    worker: Worker,
    loaded: Mapping[str, Mapping[str, Any]],
    role: Role,
    written: Binding,
    found: Mapping[str, Binding],
    inputs: Mapping[str, Any],
) -> list[Candidate]:
    """A written binding; one that names its target alone is called in the ways that its signature allows."""
    stated = set(worker.submission.meta.binding.get(role.name, ()))
    if written.origin == ADAPTER or stated - {"target", "returns", "layout", "model", "patch"}:
        return [Candidate(written, 0.0)]
    anything = replace(role, patterns=("",), avoid=())
    options = [
        Candidate(
            replace(
                option.binding,
                returns=written.returns,
                layout=written.layout or option.binding.layout,
                model=written.model,
                patch=written.patch,
                origin=written.origin,
                why=written.why,
            ),
            option.score,
        )
        for option in candidates(worker, loaded, anything, found, inputs)
        if option.binding.target == written.target
    ]
    return options or [Candidate(written, 0.0)]


def _line(loaded: Mapping[str, Mapping[str, Any]], binding: Binding) -> int:
    for item in callables(loaded):
        if (item.file, item.name) == (binding.file, binding.name):
            return item.line
    return 0


def _probed(
    worker: Worker,
    role: Role,
    binding: Binding,
    inputs: dict[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    misshapen: list[tuple[Binding, Returned]],
) -> Binding | str:
    """Call a candidate on the sample; settle where its returns are, or say why it is not the role.

    One that is refused for a shape alone, while names say what its answers are, is added to ``misshapen``.
    """
    try:
        binding = with_attributes(worker, role, binding, inputs)
        returned = invoke(worker, binding, inputs, budget=_PROBE_BUDGET)
        if binding.returns:
            return _accepted(role, returned, inputs, shapes)
        tree = returned.result.tree
        instance = worker.describe(returned.instance) if returned.instance else None
        where = returns(worker.submission, role, binding, tree, instance, shapes)
        try:
            return _accepted(role, _at(returned, where), inputs, shapes)
        except BadResult:
            if named := by_name(worker.submission, role, binding, tree):
                misshapen.append((replace(binding, returns=named), _at(returned, named)))
            raise
    except KeyError as error:
        return str(error.args[0])
    except Fault as fault:
        if Ended.by(fault, worker):
            raise Ended(binding, fault) from fault
        return fault.placed


def _at(returned: Returned, where: Mapping[str, Source]) -> Returned:
    return replace(returned, binding=replace(returned.binding, returns=where))


def _accepted(
    role: Role, returned: Returned, inputs: dict[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> Binding:
    """The binding, when everything is there in the shape that the contract asks for."""
    for item in role.returns:
        if not item.required and not returned.has(item.name):
            continue
        if item.kind == "array" and item.name in shapes:
            returned.array(item.name, shapes[item.name])
        else:
            returned.handle(item.name)
    _keep_handles(role, returned, inputs)
    return returned.binding


def _keep_handles(role: Role, returned: Returned, inputs: dict[str, Any]) -> None:
    for item in role.returns:
        if item.kind in ("handle", "self") and returned.has(item.name):
            inputs[item.name] = returned.handle(item.name)
