"""Two complete solutions side by side: both are judged, and the worse one counts.

Which of two files is meant, nobody can tell: the one that is named after the task may be the older one. A
second file that defines all that is bound in the first, under the same names, is a solution of its own; what
it calls a reference or a baseline is the submission's own truth, and none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from judge_tui.checks.verdict import Evidence, Outcome, Verdict, worst

if TYPE_CHECKING:
    from judge_tui.checks.bench import Bench
    from judge_tui.checks.binding.binder import Bindings
    from judge_tui.checks.contract import Contract

__all__ = ["ONE_IS_ENOUGH", "rival_of", "worse"]

#: Checks of which the verdict says nothing of right and wrong.
ONE_IS_ENOUGH = frozenset({"throughput"})
_TRUTHS = re.compile(
    r"naive|reference|(?<![a-z])ref(?![a-z])|baseline|oracle|golden|expected|broken|buggy|wrong"
)
#: What a second solution can make worse of a verdict.
_BAD = (Verdict.FAIL, Verdict.AMBIGUOUS, Verdict.WARN)


def rival_of(bindings: Bindings, contract: Contract) -> tuple[str, ...]:
    """The files of the solution that is bound, where another file holds a second one; else none.

    Args:
        bindings: What is bound.
        contract: What was looked for.
    """
    bound = [bindings.found[role.name] for role in contract.roles if role.name in bindings]
    files = {binding.file for binding in bound}
    open_ = any(role.required and role.name not in bindings for role in contract.roles)
    if open_ or len(files) != 1 or any(binding.origin != "found" for binding in bound):
        return ()
    names = {binding.name for binding in bound}
    others = (file for file in bindings.loaded if file not in files and not _TRUTHS.search(file.lower()))
    return tuple(files) if any(names <= _defined(bindings.loaded[file]) for file in others) else ()


def _defined(inventory: Mapping[str, Any]) -> set[str]:
    """Functions and methods that a file defines, by qualified name."""
    found = {str(function["name"]) for function in inventory.get("functions", ())}
    for cls in inventory.get("classes", ()):
        found |= {f"{cls['name']}.{method['name']}" for method in cls["methods"]}
    return found


def worse(outcome: Outcome, bench: Bench, other: Outcome, rival: Bench) -> Outcome:
    """The outcome that counts, with what the other solution got.

    Args:
        outcome: Of the solution that is bound.
        bench: Where it was judged.
        other: Of the second one.
        rival: Where that was judged.
    """
    where, there = _files(bench), _files(rival)
    counts = other.verdict in _BAD and worst((outcome.verdict, other.verdict)) is other.verdict
    counts = counts and other.verdict is not outcome.verdict
    chosen, beside = (other, outcome) if counts else (outcome, other)
    place, elsewhere = (there, where) if counts else (where, there)
    told = Evidence(
        f"a second solution, in {elsewhere}", f"{beside.verdict}: {beside.summary}", None, "", None,
        note="Two complete solutions stand side by side; the worse one counts.",
    )  # fmt: skip
    summary = f"{place}: {chosen.summary} ({elsewhere}, a second solution: {beside.verdict})"
    return msgspec.structs.replace(
        chosen, summary=summary, evidence=(*chosen.evidence, told),
        seconds=round(outcome.seconds + other.seconds, 3),
    )  # fmt: skip


def _files(bench: Bench) -> str:
    known = bench.known_bindings
    files: Iterable[str] = {binding.file for binding in known.found.values()} if known else ()
    return ", ".join(sorted(files)) or "the other file"
