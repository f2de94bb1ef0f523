"""How a decoder is told what each token sees, where its caller says so: by a mask, in a usual way."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.tasks.kv.faces.told import MASKS
from judge_tui.checks.tasks.kv.finding.meant import consistent
from judge_tui.checks.tasks.kv.words.decoder_roles import BY_NAME
from judge_tui.checks.tasks.kv.words.masks import masking_of

__all__ = ["asked", "settle_mask"]

_CALLS = ("prefill", "decode")
_SEEN = next(param for param in BY_NAME["prefill"].params if param.name == "seen")


def settle_mask(search: Search) -> None:
    """Hand a causal mask to what takes one, where a prompt's rows are those of a longer one so.

    Without it rows of a prompt would see the tokens behind them, and nobody could say whose mistake that is.
    """
    bound = search.bound
    calls = {name: asked(search, bound[name]) for name in _CALLS}
    if bound["prefill"].origin != "found" or not calls["prefill"].takes("seen"):
        return
    if search.goes(partial(consistent, search, bound, needed=True)):
        return
    for mask in MASKS:
        told = {name: binding.handed(seen=mask) for name, binding in calls.items()}
        if search.goes(partial(consistent, search, {**bound, **told}, needed=True)):
            bound.update(told)
            return


def asked(search: Search, binding: Binding) -> Binding:
    """The same call, handed a mask that is left out by default, unless it makes a causal one by itself."""
    if any(binding.takes(name) for name in ("seen", *MASKS)):
        return binding
    if masking_of(search.worker.submission, binding, _SEEN.means):
        return binding
    params = search.params(binding.target)
    named = [str(param["name"]) for param in params if _SEEN.means(param["name"]) and "default" in param]
    return replace(binding, args=(*binding.args, Argument("seen", keyword=named[0]))) if named else binding
