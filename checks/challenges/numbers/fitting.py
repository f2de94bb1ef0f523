"""Whether what a ``challenge.py`` says fits together: what is said by name, and what takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge_tui.checks.challenges.author import Author
from judge_tui.checks.errors import ChallengeFault

__all__ = ["lacking", "taken_by"]


def lacking(author: Author, clause: str, *names: str) -> ChallengeFault:
    """That something is not there, with the line of what was probably meant to be it.

    Args:
        author: Whose.
        clause: What is not there, in words.
        names: What it would be called.
    """
    if near := author.written.meant_for(*names):
        name, line, meant = near
        return author.fault(f"{name} is probably meant to be {meant}: there is {clause}", line=line)
    return author.fault(f"challenge.py has {clause}")


def taken_by(
    author: Author, inputs: Mapping[str, Any], what: str, cases: Sequence[Mapping[str, Any]]
) -> None:
    """Be sure that ``inputs`` takes what each case says, and is told all that it takes.

    Args:
        author: Whose.
        inputs: The function, as ``worker/describe.py`` tells of it.
        what: What the cases are called.
        cases: Sizes by name.

    Raises:
        ChallengeFault: A case leaves something out, or says what ``inputs`` does not take.
    """
    params = inputs.get("params")
    if params is None:
        return
    names = [param["name"] for param in params]
    told = f"inputs({', '.join(names)})"
    _take_generator(author, params, told, {key for case in cases for key in case})
    for index, case in enumerate(cases):
        place = what if len(cases) == 1 else f"{what}[{index}]"
        if unknown := [key for key in case if key not in names[1:]]:
            if not any(param["kind"] == "VAR_KEYWORD" for param in params):
                raise author.fault(f"{place} says '{unknown[0]}', which {told} does not take")
        if missing := [name for name in map(_required, params[1:]) if name and name not in case]:
            raise _left_out(author, what, place, told, missing[0])


def _take_generator(author: Author, params: Sequence[Mapping[str, Any]], told: str, keys: set[str]) -> None:
    first = params[0] if params else {"name": "", "kind": "KEYWORD_ONLY"}
    if first["kind"] in ("KEYWORD_ONLY", "VAR_KEYWORD") or first["name"] in keys:
        raise author.fault(f"{told} must take the generator first: def inputs(rng, …)")


def _required(param: Mapping[str, Any]) -> str:
    """The name of a parameter that must be said; empty where it need not."""
    return "" if "default" in param or param["kind"].startswith("VAR_") else str(param["name"])


def _left_out(author: Author, what: str, place: str, told: str, name: str) -> ChallengeFault:
    """That a case does not say what ``inputs`` takes; where there are no cases, that these are missing."""
    if author.written.line(what) is None:
        return lacking(author, f"no {what} that says '{name}' to {told}", what)
    return author.fault(f"{place} does not say '{name}', which {told} takes")
