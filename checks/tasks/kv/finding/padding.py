"""How a decoder is told which tokens are real: as counts, as a mask, or by prompts of their own lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.tasks.kv.faces.left_padding import LEFT
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tolerance import relative_error

__all__ = ["settle_padding"]

_BUDGET = 8.0
_RIGHT = 1e-3
#: What is right: the longest prompt alone, all prompts, and the step behind them as well.
_LONGEST, _PROMPTS, _ALL = 1, 2, 3
#: Prompts of several lengths in a list: arrays, or lists of ids.
_LISTS = ("prompts", "token_lists")


def settle_padding(search: Search) -> None:
    """Hand over counts or a mask where a ragged batch comes out right so; else all tokens count as real.

    Prompts may come in a list as well, each of its own length. A mask is of the tokens of a call, padded
    behind, or of all places of the cache, padded in front. Where the prompts come out right and no way makes
    the step behind them right, that is how it is meant, and the step is wrong; a list that is taken as it is,
    with a right answer for its longest prompt, is meant as well.
    """
    bound = search.bound
    prefill, decode = bound["prefill"], bound["decode"]
    if prefill.origin == "found" and prefill.takes("tokens") and not prefill.takes("lengths"):
        lists = [{"prefill": prefill.handed(tokens=source)} for source in _LISTS]
        if listed := _best(search, lists, _LONGEST):
            bound.update(listed)
            return
    apart = not prefill.takes("valid")
    if apart:
        # A prefill that is told of no padding may stand beside a call for any tokens that is.
        prefill = replace(decode, role="prefill")
    if prefill.origin != "found" or not prefill.takes("valid") or "batch_prefill" in bound:
        return
    ways = []
    for source in ("lengths", "mask", *(LEFT if decode.takes("valid") else ())):
        told = {"prefill": prefill.handed(valid=source)}
        if source in LEFT:
            # A mask of all places is told at every call, as a step cannot know of padding otherwise.
            told["decode"] = decode.handed(valid=source)
        ways.append(told)
    if told := _best(search, ways):
        named = {f"batch_{name}": replace(b, role=f"batch_{name}") for name, b in told.items()}
        bound.update(named if apart else told)


def _best(search: Search, ways: Sequence[Option], least: int = _PROMPTS) -> Option:
    """The first way of the highest grade; none where all are below the least."""
    graded: dict[int, Option] = {}
    for way in ways:
        grade = _grade(search, {**search.bound, **way})
        if grade == _ALL:
            return way
        graded.setdefault(grade, way)
    highest = max(graded, default=0)
    return graded[highest] if highest >= least else {}


def _grade(search: Search, option: Option) -> int:
    """How much equals the same alone, of prompts of two and three tokens at once and a step behind them."""
    with search.guess():
        make = Maker(search.worker, option, lambda: _BUDGET)
        if not make.any_batch:
            return 0
        two, lengths = make(2), np.array([2, 3])
        given = two.draw(np.random.default_rng(19), 4)
        answers = [two.prefill(given[:, :3], lengths), two.decode(given[:, 3])]
        right = []
        for b, n in enumerate(lengths):
            alone, row = make(1), given[b : b + 1]
            truths = [alone.prefill(row[:, :n]), alone.decode(row[:, 3])]
            pairs = zip(answers, truths, strict=True)
            right.append([relative_error(out[b : b + 1], truth) <= _RIGHT for out, truth in pairs])
        (shorter, shorter_step), (longest, longest_step) = right
        if not longest:
            return 0
        return (_ALL if shorter_step and longest_step else _PROMPTS) if shorter else _LONGEST
    return 0
