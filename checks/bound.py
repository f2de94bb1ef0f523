"""What was bound, why, and what is open: the answer to ``judge-tui bind``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.binder import Bindings
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.binding.tables import path_text
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import Fault
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task

__all__ = ["Attempt", "Bound", "RoleBound", "bound", "called", "places", "searched", "signature"]

#: Seconds that the search of all roles may take.
_BUDGET = 180.0


class Attempt(msgspec.Struct, frozen=True):
    """A candidate that was tried, and how it failed.

    Attributes:
        target: ``file.py:name``, several joined by commas where they were tried together; may be empty.
        file: Of the first of them.
        line: 1-based; 0 where it is not known.
        said: How it failed.
    """

    target: str
    file: str
    line: int
    said: str


class RoleBound(msgspec.Struct, frozen=True):
    """One role of a contract.

    Attributes:
        role: Its name.
        required: Whether the task cannot be judged without it.
        state: ``found``, ``open``, or ``fault``: open because of what the submission did.
        target: ``file.py:name`` of what plays it.
        line: 1-based line of that.
        origin: ``found``, ``submission.toml`` or ``adapter.py``.
        called: How it is called, in canonical names.
        gives: Canonical name → where it is in the answer.
        why: What showed that it plays the role; for a fault, what the submission did.
        candidates: What else was tried before it was found, or in vain.
    """

    role: str
    required: bool
    state: Literal["found", "open", "fault"]
    target: str = ""
    line: int = 0
    origin: str = ""
    called: str = ""
    gives: dict[str, str] = {}
    why: str = ""
    candidates: tuple[Attempt, ...] = ()


class Bound(msgspec.Struct, frozen=True):
    """The roles of one submission."""

    model: str
    task: str
    roles: tuple[RoleBound, ...]

    @property
    def open(self) -> tuple[RoleBound, ...]:
        """Required roles that nothing plays."""
        return tuple(role for role in self.roles if role.required and role.state != "found")


def searched(task: Task, submission: Submission, *, seed: int = 0) -> Bindings:
    """Look for every role of a task.

    Args:
        task: Whose contract is asked for.
        submission: Where.
        seed: Of the probe's inputs.

    Raises:
        Fault: There is nothing to search, or importing or probing ended the process again and again.
        WorkspaceError: A written binding is malformed.
    """
    bench = Bench(submission, task.contract, seed=seed)
    bench.begin("bind", _BUDGET)
    try:
        return bench.bindings
    finally:
        bench.close()


def bound(task: Task, submission: Submission, found: Bindings) -> Bound:
    """What a search found, role by role."""
    lines = places(found.loaded)
    roles = (_role(role, found, lines) for role in task.contract.roles)
    return Bound(submission.model, task.id, tuple(roles))


def _role(role: Role, found: Bindings, lines: Mapping[str, int]) -> RoleBound:
    attempts = tuple(_attempt(note, lines) for note in found.rejected.get(role.name, ()))
    if binding := found.found.get(role.name):
        return RoleBound(
            role.name, role.required, "found", binding.target, binding.line, binding.origin,
            called(binding), {name: path_text(source) for name, source in binding.returns.items()},
            binding.why, attempts,
        )  # fmt: skip
    fault = found.faults.get(role.name)
    why = f"the submission {fault.placed}" if isinstance(fault, Fault) else ""
    return RoleBound(role.name, role.required, "fault" if fault else "open", why=why, candidates=attempts)


def called(binding: Binding) -> str:
    """How a binding's callable is called, as Python would write it, with canonical names."""
    args = ", ".join(map(str, binding.args))
    name = binding.name.removesuffix("()")
    owner, _dot, method = name.rpartition(".")
    if binding.on:
        text = f"{binding.on}({args})" if binding.name.endswith("()") else f"{binding.on}.{method}({args})"
    elif binding.init is not None:
        text = f"{owner}({', '.join(map(str, binding.init))}).{method}({args})"
    else:
        text = f"{name}({args})"
    more = [
        f"{key} {value}" for key, value in (("layout", binding.layout), ("model", binding.model)) if value
    ]
    after, within = " after a first call" if binding.warm else "", "[...]" if binding.in_place else ""
    more += [f"self.{path}{within} = {source}{after}" for path, source in binding.attributes.items()]
    more += [f"{source} stands for {place}" for place, source in binding.patch.items()]
    return text + (f" [{'; '.join(more)}]" if more else "")


def places(loaded: Inventories) -> dict[str, int]:
    """``file.py:name`` → line of every function, method and class."""
    lines = {f"{item.file}:{item.name}": item.line for item in callables(loaded)}
    for file, inventory in loaded.items():
        lines |= {f"{file}:{cls['name']}": int(cls["line"]) for cls in inventory.get("classes", ())}
    return lines


def _attempt(note: str, lines: Mapping[str, int]) -> Attempt:
    """A note of the binder's with the callables in front of it told apart."""
    targets = list(_targets(note, lines))
    if not targets:
        return Attempt("", "", 0, note)
    said = note[len(", ".join(targets)) :].lstrip(": ")
    return Attempt(", ".join(targets), targets[0].rpartition(":")[0], lines[_plain(targets[0])], said)


def _targets(note: str, lines: Mapping[str, int]) -> Iterator[str]:
    rest = note
    while True:
        known = (name + call for name in lines for call in ("()", "") if rest.startswith(name + call))
        target = max(known, key=len, default="")
        after = rest[len(target) :]
        if not target or after[:1] not in (" ", ":", ","):
            return
        yield target
        if not after.startswith(", "):
            return
        rest = after[2:]


def _plain(target: str) -> str:
    return target.removesuffix("()")


def signature(name: str, params: Any) -> str:
    """A signature from an inventory, as Python would write it."""
    parts: list[str] = []
    starred = False
    for param in params or ():
        kind = param["kind"]
        if kind == "KEYWORD_ONLY" and not starred:
            parts.append("*")
        starred = starred or kind in ("KEYWORD_ONLY", "VAR_POSITIONAL")
        stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(kind, "")
        default = f"={param['default']!r}" if "default" in param else ""
        parts.append(f"{stars}{param['name']}{default}")
    return f"{name}({', '.join(parts)})"
