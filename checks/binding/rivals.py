"""A second complete solution beside the one that is bound.

Which of two files is meant, nobody can tell: the one that is named after the task may be the older one. A
second file that defines all that is bound in the first, under the same names, is a solution of its own; what
it calls a reference or a baseline is the submission's own truth, and none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judge_tui.checks.binding.binder import Bindings
from judge_tui.checks.contract import Contract

__all__ = ["rival_of"]

_TRUTHS = re.compile(
    r"naive|reference|(?<![a-z])ref(?![a-z])|baseline|oracle|golden|expected|broken|buggy|wrong"
)


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
