"""Finding what goes on with the object that a prompt gives: methods of it, and functions that are handed it.

``session, logits = model.start(prompt)`` and then ``session.step(token)``, or ``decode_step(state, token)``
with nothing of the model beside it; a model may also give such an object before any prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.contract import Role
from judge_tui.checks.sources import source_text
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched

__all__ = ["going_on"]

#: Names of calls that go on with a text, which those of a part of a model are not.
_GOES_ON = re.compile(r"(?i)^(prefill|decode|step|next|feed|extend|advance)(_|[A-Z]|$)")
#: Objects whose calls take rows of numbers are parts of a model.
_IDS = ("tokens",)
_MOST = 4


def going_on(search: Search, role: Role, owner: Owner) -> list[Binding]:
    """Calls that take tokens and go over the object that a prompt, or a model, gave.

    Args:
        search: Where is looked.
        role: That of a prompt, or of a step.
        owner: What the model is.
    """
    functions = (one for one in matched(search, role, stateful=True) if one.init is None and not one.on)
    found = [*functions, *_methods(search, role, owner)]
    return [one for one in found if _goes_on(one)][:_MOST]


def _goes_on(binding: Binding) -> bool:
    named = bool(_GOES_ON.search(binding.name.rpartition(".")[2]))
    return named and any(map(binding.takes, _IDS)) and not binding.takes("model")


def _methods(search: Search, role: Role, owner: Owner) -> Iterator[Binding]:
    """Methods of other objects than the model, which the submission makes itself."""
    submission = search.worker.submission
    for file, inventory in search.loaded.items():
        text = source_text(submission.read_bytes(file)) if file in submission.files else ""
        for each in inventory.get("classes", ()):
            kind = str(each["name"])
            if kind != owner.kind and re.search(rf"(?<!class )\b{re.escape(kind)}\(", text):
                named = matched(search, role, owner=Owner(kind, bare=False), stateful=True)
                yield from (one for one in named if one.on)
