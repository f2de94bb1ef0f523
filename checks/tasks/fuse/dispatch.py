"""Whether a host function picks one of several launchers by the sizes that it is handed.

What it picks for other sizes is not offered for these: a template for rows of at most 32 logits owes no
answer to longer ones, and is asked for its own through the function that picks it.
"""

from __future__ import annotations

import re

from judge_tui.checks.cuda.definitions import Function
from judge_tui.checks.tasks.fuse.launcher import Launcher

__all__ = ["picked_by_sizes"]

_WORD = re.compile(r"[A-Za-z_]\w*")
#: A variable, and what it is set to.
_SET = re.compile(r"\b([A-Za-z_]\w*)\s*(?:[-+*/|]|<<|>>)?=(?!=)([^;]*);")
_SIZES = ("V", "K")
_CASE = re.compile(r"\b(case|default)\b")


def picked_by_sizes(host: Function, launcher: Launcher, callee: str) -> bool:
    """Whether a host function calls another in several places, and V or K decide between these.

    What all the places stand in decides nothing between them.

    Args:
        host: It.
        launcher: How it is launched, which tells its parameters' meanings.
        callee: The name of the other.
    """
    sizes = _about_sizes(host, launcher)
    found = [
        _before(host.body, place.start()) for place in re.finditer(rf"\b{re.escape(callee)}\s*<", host.body)
    ]
    shared = set[str]().union(*found).intersection(*found)
    return len(found) > 1 and any(
        sizes & set(_WORD.findall(head)) for heads in found for head in heads if head not in shared
    )


def _about_sizes(host: Function, launcher: Launcher) -> set[str]:
    """Names in a host function that stand for V or K, or follow from them."""
    found = {
        parameter.name
        for parameter, means in zip(host.parameters, launcher.args, strict=False)
        if set(_WORD.findall(means)) & set(_SIZES)
    }
    sets = [(name, set(_WORD.findall(value))) for name, value in _SET.findall(host.body)]
    while more := {name for name, used in sets if used & found} - found:
        found |= more
    return found


def _before(body: str, at: int) -> list[str]:
    """What decides whether a place is come to: the beginning of its statement, the heads of its blocks."""
    heads: list[str] = []
    depth, end, inside = 0, at, True
    for place in range(at - 1, -1, -1):
        letter = body[place]
        if not depth and inside and letter in ";{}":
            heads.append(body[place + 1 : end])
            inside = False
        if letter == "}":
            depth += 1
        elif letter == "{" and depth:
            depth -= 1
        elif letter == "{":
            end, inside = place, True
    # a case decides together with its switch
    return [
        f"{head} {after}" if _CASE.search(head) else head
        for head, after in zip(heads, [*heads[1:], ""], strict=False)
    ]
