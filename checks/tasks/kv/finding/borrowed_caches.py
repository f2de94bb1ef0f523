"""What makes the cache that a decoder is handed, and opens a sequence in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tasks.kv.finding.signatures import Owner, as_told, matched
from judge_tui.checks.tasks.kv.words import decoder_roles, roles
from judge_tui.checks.tasks.kv.words.paging_roles import PARTS, ROLES

__all__ = ["BorrowedCaches"]

_STATE, _CREATE = decoder_roles.BY_NAME["state"], roles.BY_NAME["create"]
#: A cache that is made for a decoder may be told more of it than one by itself.
_SIZED = replace(_CREATE, params=(*_CREATE.params, *(p for p in _STATE.params if p.name in ("vocab", "ff"))))
_MOST = 2


class BorrowedCaches:
    """Caches that no decoder makes: functions of sizes alone, classes, and what is bound as the cache.

    Args:
        search: Where is looked, with the cache as far as one was found.
    """

    def __init__(self, search: Search) -> None:
        self._search, bound = search, search.bound
        functions = [o for o in matched(search, _STATE) if not o.takes("model")][:_MOST]
        known = {option.target for option in functions}
        self.makers = [*functions, *(each for each in self._bound(bound) if each.target not in known)]
        self.adds = {bound["create"].target: bound["add"]} if {"create", "add"} <= set(bound) else {}

    def _bound(self, bound: Option) -> list[Binding]:
        if "create" in bound:
            return [bound["create"]]
        named = matched(self._search, _SIZED, classes=True)
        return [replace(option, returns={}) for option in named if option.name[:1].isupper()][:_MOST]

    def options(self, option: Option) -> Iterator[Option]:
        """A decoder that is handed a cache, with each of them: one for all layers, then one for each."""
        apart = option["prefill"].takes("sequence") and "open" not in option
        around = [option["decoder"]] if "decoder" in option else []
        for maker in self.makers:
            for role in ("state", "states"):
                made = {**option, role: as_told(replace(maker, role=role), *around)}
                if apart and role == "state" and maker.target in self.adds:
                    yield {**made, "open": replace(self.adds[maker.target], role="open")}
                yield made
        for maker, add in self._paged if apart else ():
            yield {**option, "state": as_told(maker, *around), "open": add}

    @cached_property
    def _paged(self) -> list[tuple[Binding, Binding]]:
        """Caches of pages that keep sequences apart, and what opens one."""
        found = []
        for maker in matched(self._search, ROLES[0], classes=True)[:_MOST]:
            owner = None
            with self._search.guess():
                owner = Owner.of(self._search.worker, maker)
            adds = matched(self._search, PARTS["add"], owner=owner, stateful=True) if owner else []
            found += [(replace(maker, role="state"), replace(add, role="open")) for add in adds[:1]]
        return found

    def lent(self, option: Option) -> bool:
        """Whether the cache of an option is one of them."""
        state = option.get("state") or option.get("states")
        known = {maker.target for maker in self.makers}
        return state is not None and (state.target in known or self.paged(option))

    def paged(self, option: Option) -> bool:
        """Whether it is one of pages, in which sequences are opened."""
        if not {"open", "state"} <= set(option):
            return False
        return option["state"].target in {maker.target for maker, _add in self._paged}
