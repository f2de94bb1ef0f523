"""Windows that can be told to keep their first tokens for good, beside the newest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Argument
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.capacity.window import sinks_told
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: Tokens that stay, and how often the others go round.
_FIRST, _TURNS = 2, 3


def judge(subject: Subject, found: Findings, said: list[str], window: int) -> None:
    """Hold steps past such a window against attention over what it has to keep.

    Args:
        subject: The submission's cache, which keeps no first tokens unless it is told to.
        found: Gathers the evidence.
        said: What is wrong is put in front.
        window: Tokens that it is made for.
    """
    create, name = subject.bound.get("create"), sinks_told(subject)
    if create is None or not name or subject.mode == "read":
        return
    told = replace(create, args=(*create.args, Argument("", keyword=name, literal=_FIRST)))
    keeping = replace(subject, bound={**subject.bound, "create": told})
    total = window + _TURNS * (window - _FIRST) + 1
    sizes = keeping.sizes(2, window, layers=1)
    stream = drawn(subject.bench.rng("kept first"), sizes, total)
    quantity = f"{total} steps past a window of {window} that is told to keep its first {_FIRST} ({name})"
    try:
        out = keeping.cached(sizes).feed(*stream, whole=False)
    except (Raised, BadResult, Skipped) as fault:
        found.note(quantity, "not judged", note=fault.message)
        return
    limit = float32_limit(subject)
    # the first may count among those of the window, or come beside them
    truths = [_truth(stream, newest) for newest in (window - _FIRST, window - _FIRST + 1, window)]
    wrong = [_first_wrong(out, truth, limit) for truth in truths]
    nearest = int(np.argmax(wrong))
    right = found.limit(
        f"{quantity}: largest relative error against these and the newest",
        min(float(relative_error(out, truth)) for truth in truths), limit, **subject.where("step", "append"),
    )  # fmt: skip
    if not right and wrong[nearest] > window:
        turn = 1 + (wrong[nearest] - window) // (window - _FIRST)
        said.insert(
            0,
            f"{quantity}: right up to token {wrong[nearest] - 1}, wrong from {wrong[nearest]} on, where the "
            f"others go round for the {turn}. time: they are written over the first, or elsewhere",
        )
    elif not right:
        said.insert(0, f"{quantity}: wrong from token {wrong[nearest]} on")


def _truth(stream: tuple[Array, Array, Array], newest: int) -> Array:
    row, key = np.arange(stream[0].shape[2])[:, None], np.arange(stream[0].shape[2])[None]
    return attention(*stream, visible=(key <= row) & ((key < _FIRST) | (key > row - newest)))


def _first_wrong(out: Array, truth: Array, limit: float) -> int:
    """The first token whose answer is wrong; one past the last where none is."""
    tokens = range(truth.shape[2])
    wrong = (t for t in tokens if not relative_error(out[:, :, t], truth[:, :, t]) <= limit)
    return next(wrong, len(tokens))
