"""How a decoder is told which tokens are real: as counts, as a mask, or by prompts of their own lengths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.tasks.kv.faces.left_padding import LEFT
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tolerance import relative_error

__all__ = ["settle_padding"]

_BUDGET = 8.0
_RIGHT = 1e-3
#: Prompts of several lengths in a list: arrays, or lists of ids.
_LISTS = ("prompts", "token_lists")


def settle_padding(search: Search) -> None:
    """Hand over counts or a mask where a ragged batch comes out right so; else all tokens count as real.

    Prompts may come in a list as well, each of its own length. A mask is of the tokens of a call, padded
    behind, or of all places of the cache, padded in front.
    """
    bound = search.bound
    prefill, decode = bound["prefill"], bound["decode"]
    if prefill.origin == "found" and prefill.takes("tokens") and not prefill.takes("lengths"):
        for source in _LISTS:
            listed = {**bound, "prefill": prefill.handed(tokens=source)}
            if _right(search, listed):
                bound.update(listed)
                return
    apart = not prefill.takes("valid")
    if apart:
        # A prefill that is told of no padding may stand beside a call for any tokens that is.
        prefill = replace(decode, role="prefill")
    if prefill.origin != "found" or not prefill.takes("valid") or "batch_prefill" in bound:
        return
    for source in ("lengths", "mask", *(LEFT if decode.takes("valid") else ())):
        told = {"prefill": prefill.handed(valid=source)}
        if source in LEFT:
            # A mask of all places is told at every call, as a step cannot know of padding otherwise.
            told["decode"] = decode.handed(valid=source)
        if _right(search, {**bound, **told}):
            named = {f"batch_{name}": replace(b, role=f"batch_{name}") for name, b in told.items()}
            bound.update(named if apart else told)
            return


def _right(search: Search, option: Option) -> bool:
    """Whether prompts of two and three tokens in a batch, and a step after them, equal the same alone."""
    with search.guess():
        make = Maker(search.worker, option, lambda: _BUDGET)
        if not make.any_batch:
            return False
        two, lengths = make(2), np.array([2, 3])
        given = two.draw(np.random.default_rng(19), 4)
        answers = [two.prefill(given[:, :3], lengths), two.decode(given[:, 3])]
        for b, n in enumerate(lengths):
            alone, row = make(1), given[b : b + 1]
            truths = [alone.prefill(row[:, :n]), alone.decode(row[:, 3])]
            pairs = zip(answers, truths, strict=True)
            if not all(relative_error(out[b : b + 1], truth) <= _RIGHT for out, truth in pairs):
                return False
        return True
    return False
