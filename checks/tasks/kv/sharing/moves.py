"""Calls by which a decoder moves rows or takes tokens back, and what its answers are worth behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Handle, Target
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.storage import holds_codes
from judge_tui.checks.tasks.kv.limits import CODES
from judge_tui.checks.tasks.kv.words.sharing_roles import REORDER
from judge_tui.checks.tolerance import relative_error

__all__ = [
    "AFTER",
    "BEFORE",
    "PROMPT",
    "ROUNDED",
    "Array",
    "Mover",
    "behind",
    "called",
    "fed",
    "limit_of",
    "off",
]

Array = npt.NDArray[Any]
#: Tokens of a prompt, and steps before and after a move.
PROMPT, BEFORE, AFTER = 6, 2, 3
#: How far off an answer is at most that is summed up in another order.
ROUNDED = 1e-3
#: What comes of a call that moves rows.
_MOVED = ("none", "object")


@dataclass(frozen=True, slots=True)
class Mover:
    """A method or function that moves rows, or takes tokens back.

    Attributes:
        role: Which of both.
        name: Its name.
        of: Whose method it is: ``model``, ``cache``, or nothing's: a function.
        handed: What it is handed before anything else: ``cache``, ``sequence`` or nothing.
        param: The parameter behind that.
        file: Where it stands.
        line: Its line.
    """

    role: Role
    name: str
    of: str
    handed: str
    param: str
    file: str
    line: int


def called(decoder: Decoder, mover: Mover, value: Any) -> Any:
    """Call it; a new cache that it gives is the decoder's from now on.

    Returns:
        A number or a flag that it gives; ``None`` where it gives none.

    Raises:
        Skipped: What it gives is neither nothing nor a cache.
    """
    before = decoder.state
    owner = decoder.model if mover.of == "model" else before
    assert isinstance(owner, Handle)
    first = {"cache": [before], "sequence": [decoder.sequences[0]]}
    args = [*first.get(mover.handed, []), value]
    if mover.of:
        result = decoder.worker.call(owner, args, method=mover.name)
    else:
        result = decoder.worker.call(Target(mover.file, mover.name), args)
    if mover.role is REORDER and result.tree.get("kind") not in _MOVED:
        raise Skipped(f"it gives a {result.tree.get('kind')}, as what only looks does")
    if isinstance(before, Handle):
        kind = decoder.worker.describe(before).get("type")
        if result.tree.get("kind") == "object" and result.tree.get("type") == kind:
            decoder.state = result.handle
    plain = result.tree.get("kind") in ("int", "bool")
    return decoder.worker.value(result.handle) if plain else None


def limit_of(decoder: Decoder) -> float:
    """How far off an answer may be, that of codes where a cache keeps some."""
    return CODES if holds_codes(decoder.worker, decoder.roots) else ROUNDED


def fed(decoder: Decoder, make: Maker, given: Array) -> float:
    """Feed a prompt and steps; how far off the last answer is."""
    decoder.prefill(given[:, :PROMPT])
    answer = None
    for t in range(PROMPT, PROMPT + BEFORE):
        answer = decoder.decode(given[:, t])
    assert answer is not None
    return off(answer, make, given[:, : PROMPT + BEFORE])


def behind(decoder: Decoder, make: Maker, held: Array, new: Array) -> float:
    """How far off steps are behind what is held, (B, S); ``new`` are their tokens, (B, S)."""
    worst = 0.0
    for t in range(new.shape[1]):
        answer = decoder.decode(new[:, t])
        held = np.concatenate([held, new[:, t : t + 1]], axis=1)
        worst = max(worst, off(answer, make, held))
    return worst


def off(answer: Array, make: Maker, held: Array) -> float:
    """The largest error of rows against new decoders that are fed all of it at once."""
    truths = [make(1).prefill(held[b : b + 1]) for b in range(len(held))]
    return relative_error(answer, np.concatenate(truths)) if truths else float("nan")
