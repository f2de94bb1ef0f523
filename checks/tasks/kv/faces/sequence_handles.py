"""Decoders whose prefill gives the handle of a sequence: ``handle, logits = start(prompt)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.kv.faces.lone import KEYED
from judge_tui.checks.tasks.kv.words.decoder_roles import BY_NAME

__all__ = ["given_handle", "hands_out", "opening", "tells_sequences"]

_PLAIN, _OBJECT = ("int", "str"), "object"
_SEQUENCE = next(param for param in BY_NAME["decode"].params if param.name == "sequence")


def hands_out(bound: Mapping[str, Binding]) -> bool:
    """Whether steps are told of a sequence that nothing but the prefill can have given."""
    if "open" in bound or "prefill" not in bound or "decode" not in bound:
        return False
    return tells_sequences(bound["decode"]) and not bound["prefill"].takes("sequence")


def tells_sequences(decode: Binding) -> bool:
    """Whether a step is told which sequences go on."""
    return any(decode.takes(name) for name in ("sequence", "sequences", *KEYED))


def opening(prefill: Binding) -> Binding:
    """The same call for a new sequence: what it gave is handed over only when more follows."""
    return prefill.handed(sequence="opened")


def given_handle(returned: Returned, before: Any) -> Any:
    """What a prefill calls its sequence, beside the logits.

    Args:
        returned: The call.
        before: What the sequence was called before; it stays so where the call names none.

    Raises:
        BadResult: It was told of no sequence, and names none.
    """
    tree, root = returned.result.tree, returned.result.handle
    # In a tuple its kind tells it, in a dict or an object its name.
    parts = [list(p) for p in tree.get("parts", ()) if p[0] == "i" or _SEQUENCE.means(str(p[1]))]
    for kinds in (_PLAIN, (_OBJECT,)):
        for step, key, below in parts:
            if below.get("kind") in kinds:
                handle = root.part((step, key))
                return handle if kinds == (_OBJECT,) else returned.worker.value(handle)
    if before is None and returned.binding.takes("opened"):
        raise BadResult(f"{returned.binding.target} opens no sequence")
    return 0 if before is None else before
