"""Callables that are a role beyond doubt and do not play it: broken, and not merely spelled unusually.

Who asks for nothing but what the contract has, under names that say so, and raises or answers in another
shape however it is called, is at fault itself. Where its own code refuses what it is given (``raise``,
``assert``, or axes that do not unpack or reshape) the probe may be what it does not take, and nobody can
tell. A search that meets its model in a way of its own fails otherwise with each model of the probe's; one
that is broken fails alike.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from judge_tui.checks.binding.candidates import callables, name_score
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult, Fault, Raised
from judge_tui.checks.submission import Submission

__all__ = ["Refused", "broken", "is_its_own"]

Inventories = Mapping[str, Mapping[str, Any]]
#: A candidate and how it failed to play the role.
Refused = tuple[Binding, Fault]
#: Kinds of parameters that a name alone does not tell how to fill.
_VAGUE = frozenset({"data", "dtype", "rng", "model"})
#: Exceptions of who was handed something of another type than it takes.
_OF_TYPE = frozenset({"TypeError", "AttributeError", "NotImplementedError"})
#: Exceptions of who wants a model, or its answer, to be another thing than it is.
_OF_ANSWERS = frozenset({"AttributeError", "KeyError", "NotImplementedError"})
#: Words of exceptions that speak of the call, of another rank or type than it takes, or of our model.
_OF_THE_CALL = (
    "unpack", "reshape", "argument", "parameter", "keyword", "only integers", "indices must be", "scripted",
)  # fmt: skip


def broken(
    submission: Submission, loaded: Inventories, role: Role, refused: Sequence[Refused]
) -> Fault | None:
    """What the callable did that is the role beyond doubt; ``None`` where nobody can tell.

    Args:
        submission: Whose callables they are.
        loaded: File → inventory.
        role: What was looked for.
        refused: Every way that was tried, likeliest first, and its fault.
    """
    sure = next((binding for binding, _ in refused if _is_beyond_doubt(loaded, role, binding)), None)
    if sure is None:
        return None
    target = sure.target
    tried = [one for one in refused if one[0].target == target]
    searched = _meets_a_model(role) and not role.by_parameters
    faults = _alike(tried) if searched else [fault for _, fault in tried]
    if not faults or not all(is_its_own(submission, fault, role) for fault in faults):
        return None
    first = faults[0]
    said = f"{first.message} in {target.rpartition(':')[2]}, however it is called"
    return Fault(
        Fault(said, file=first.file, line=first.line, at=first.at).placed,
        file=first.file,
        line=first.line,
        output=first.output,
    )


def _is_beyond_doubt(loaded: Inventories, role: Role, binding: Binding) -> bool:
    """Whether its name says what it is, and its parameters all that it takes."""
    score = name_score(binding.name, role)
    item = next((c for c in callables(loaded) if f"{c.file}:{c.name}" == binding.target), None)
    if score is None or score >= role.sure or item is None:
        return False
    owner = list((item.owner or {}).get("params") or ()) if binding.init is not None else []
    needed = [
        p["name"] for p in (*item.params, *owner) if "default" not in p and not p["kind"].startswith("VAR_")
    ]
    told = [next((p for p in role.params if p.means(name)), None) for name in needed]
    vague = _VAGUE if role.agrees is None else frozenset[str]()
    return all(p is not None and p.kind not in vague for p in told) and all(
        binding.takes(p.name) or p.name == binding.on for p in role.params if p.required
    )


def _meets_a_model(role: Role) -> bool:
    """Whether it is handed a model of ours, which it may meet in a way of its own; numbers it may not."""
    return role.agrees is not None and any(param.kind == "model" for param in role.params)


def _alike(tried: Sequence[Refused]) -> Sequence[Fault]:
    """What was done alike in two ways, such as with two models, if a model can hardly be blamed for it."""
    styles: dict[tuple[str, str | None, int | None], set[str]] = {}
    for binding, fault in tried:
        way = f"{binding.model}({', '.join(map(str, binding.args))})"
        styles.setdefault((fault.message, fault.file, fault.line), set()).add(way)
    return [
        fault
        for _, fault in tried
        if len(styles[fault.message, fault.file, fault.line]) > 1
        if isinstance(fault, Raised) and fault.kind not in _OF_ANSWERS
    ][:1]


def is_its_own(submission: Submission, fault: Fault, role: Role) -> bool:
    """Whether a fault is the callable's, and not what a wrong guess at the call may cause.

    Where a role is told by its parameters' names nothing was guessed: who refuses what they say is wrong.

    Args:
        submission: What was called.
        fault: What it did.
        role: What was looked for.
    """
    alike = _meets_a_model(role) or (role.by_parameters and role.agrees is not None)
    if isinstance(fault, BadResult):
        return True
    if not isinstance(fault, Raised) or not (fault.file and fault.line):
        return False
    if role.by_parameters and alike:
        # plain data is what the challenge says it is, and not of another rank or library
        return True
    if (fault.kind in _OF_TYPE and not alike) or any(word in fault.detail for word in _OF_THE_CALL):
        return False
    return role.by_parameters or not _refuses(submission.read_text(fault.file), fault.line)


def _refuses(source: str, line: int) -> bool:
    """Whether a line is a ``raise`` or an ``assert``."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return True
    return any(
        isinstance(node, ast.Raise | ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in ast.walk(tree)
    )
