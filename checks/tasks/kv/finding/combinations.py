"""Which callables may play together: what makes a cache, feeds it, attends over it and reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Binding, parse_path
from judge_tui.checks.contract import Param, Role
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.finding import positions
from judge_tui.checks.tasks.kv.finding.advancing import ticks
from judge_tui.checks.tasks.kv.finding.signatures import Owner, as_argument, matched
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.parameters import CACHE, K, Q, V
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD, RESERVE

__all__ = ["MOST", "appended", "combinations", "members", "owner_of"]

_ROLES = {role.name: role for role in (*roles.ROLES, ADD, RESERVE)}
#: Makes a cache that says it keeps a window.
_WINDOWED = replace(
    _ROLES["create"],
    patterns=(r"cache$", r"cache"),
    avoid=tuple(word for word in _ROLES["create"].avoid if word not in ("slid", "window")),
)
#: A cache that says it is a simple one, where there is no other.
_PLAIN = replace(
    _ROLES["create"],
    patterns=(r"cache$",),
    avoid=tuple(word for word in _ROLES["create"].avoid if word not in ("naive", "reference")),
)
#: A cache that makes its room in blocks.
_BLOCKED = replace(
    _ROLES["create"],
    patterns=(r"cache$",),
    avoid=tuple(word for word in _ROLES["create"].avoid if word not in ("block", "page", "chunk")),
)
_BLOCKS = re.compile(r"(?i)blocks|pages|pool|table")
#: What reads a cache by what it gives, whatever it is called: it changes nothing, and tells no number.
_GIVING = replace(
    _ROLES["read"],
    patterns=(r"kv|keys|cache|current|state|stored|content|past|history|tensors|arrays|snapshot",),
    avoid=(
        *_ROLES["read"].avoid,
        r"reset|clear|free|advance|append|update|write|add|make|create|new|init|bytes|count",
    ),
)
#: What only says whether there is room.
_CHECKS = re.compile(r"(?i)(^|\.)(check|require|assert)_?[a-z]+$")
#: What takes one token as well as many, where nothing else takes one.
_EXTENDS = re.compile(r"(?i)extend|many|sequence")
#: Where keys and values are that a call gives back as it takes more in.
_PAIR = {"k": parse_path("[0]"), "v": parse_path("[1]")}
#: Candidates of one role that are tried.
MOST = 6


def combinations(search: Search, written: Option) -> Iterator[tuple[Option, bool]]:
    """Calls that may belong to a cache, fused or apart, likeliest first.

    Args:
        search: Where is looked.
        written: What is bound by hand.

    Yields:
        Role → binding, and whether it is a guess when the cache is advanced.
    """
    for create in _creates(search, written):
        yield from _around(search, written, create)


def _creates(search: Search, written: Option) -> Iterator[Option]:
    """Ways to get a cache: written, a class, a function, and none at all (the first step makes it)."""
    if "create" in written:
        yield {"create": written["create"]}
        return
    if any(name in written for name in ("step", "append", "append_many")):
        yield {}
        return
    options = matched(search, _ROLES["create"], classes=True)[:MOST]
    if not any("cache" in binding.name.lower() for binding in options):
        # Until it is full, what keeps a window of the newest tokens holds all of them.
        options += matched(search, _WINDOWED, classes=True)[:2]
    if not options:
        options = matched(search, _PLAIN, classes=True)[:2] or _in_blocks(search) or _storing(search)
    for binding in (*_around_a_cache(search, options), *options):
        yield {"create": replace(binding, returns={})}
    yield {}


def _in_blocks(search: Search) -> list[Binding]:
    """Caches that are called after blocks, and are told how many tokens they hold, and of no blocks."""
    named = matched(search, _BLOCKED, classes=True)
    told = [[str(param["name"]) for param in search.params(one.target)] for one in named]
    plain = (one for one, names in zip(named, told, strict=True) if not any(map(_BLOCKS.search, names)))
    return [one for one in plain if one.takes("max_len")][:2]


def _around_a_cache(search: Search, caches: Sequence[Binding]) -> list[Binding]:
    """Classes that are made around a cache and take queries, keys and values, with a cache for each."""
    taking = _classes_taking(search.loaded, Q, K, V)
    made = replace(_WINDOWED, params=(replace(CACHE, required=True), *roles.SIZES), patterns=(r"",))
    return [
        replace(
            around,
            args=tuple(
                replace(held, keyword=a.keyword) if a.source == CACHE.name else a for a in around.args
            ),
        )
        for around in (matched(search, made, classes=True) if taking else ())
        if around.target in taking
        for cache in caches
        if cache.target != around.target and (held := as_argument(search, cache)) is not None
    ][:MOST]


def _classes_taking(loaded: Inventories, *wanted: Param) -> set[str]:
    """Classes with a method that takes all of these."""
    return {
        f"{file}:{cls['name']}"
        for file, inventory in loaded.items()
        for cls in inventory.get("classes", ())
        for method in cls["methods"]
        if all(any(each.means(p["name"]) for p in method["params"] or ()) for each in wanted)
    }


def _storing(search: Search) -> list[Binding]:
    """Classes of any name that are told of heads and their size, and take keys and values."""
    stores = _classes_taking(search.loaded, K, V)
    named = matched(search, replace(_ROLES["create"], patterns=(r"",)), classes=True)
    return [
        binding
        for binding in named
        if binding.target in stores
        and binding.takes("head_dim")
        and (binding.takes("heads") or binding.takes("kv_heads"))
    ][:2]


def appended(search: Search) -> Iterator[Option]:
    """Caches and what feeds them alone, which may give back all that they hold as they take more in."""
    for base in filter(None, _creates(search, {})):
        for append in members(search, base, _ROLES["append"]):
            yield {**base, "append": replace(append, returns=_PAIR)}


def _around(search: Search, written: Option, base: Option) -> Iterator[tuple[Option, bool]]:
    """Calls that may belong to a cache, fused or apart, and whether it is a guess when it is advanced."""
    owner = owner_of(search, base)
    if base and owner is None:
        return

    def options(name: str) -> list[Binding]:
        if name in written:
            return [written[name]]
        if name in (*TICKS, "add", "reserve") and _adapted(written):
            # An adapter that feeds the cache does whatever belongs to it.
            return []
        if name in TICKS:
            return ticks(search, owner)
        named = matched(search, _ROLES[name], owner=owner, stateful=name != "attention")[:MOST]
        if name == "read" and not named:
            named = matched(search, _GIVING, owner=owner, stateful=True)[:2]
        if name not in ("attend", "attention"):
            return named
        return [each for option in named for each in positions.told(search, option)]

    named = [name for name in TICKS if name in written] or ["advance"]
    told = [{name: tick} for name in named for tick in options(name)]
    guessed = bool(told) and not set(TICKS) & set(written)
    unticked: list[Option] = [{}] if guessed or not told else []
    # What makes room goes by what was counted, though a step that is told its position may need no count.
    for tick in (*told, *unticked) if guessed and options("reserve") else (*unticked, *told):
        for combination in _calls({**base, **tick}, written, options):
            yield combination, guessed
            if "advance" in tick and "attend" in combination and guessed:
                yield _advanced_after(combination), True


def _adapted(written: Option) -> bool:
    """Whether an adapter feeds the cache."""
    return any(
        name in written and written[name].origin == ADAPTER for name in ("step", "append", "append_many")
    )


def _advanced_after(combination: Option) -> Option:
    """The same, advanced once attention is over, not before it."""
    tick = replace(combination["advance"], role="advance_after")
    return {**{n: b for n, b in combination.items() if n != "advance"}, "advance_after": tick}


def _calls(base: Option, written: Option, options: Callable[[str], list[Binding]]) -> Iterator[Option]:
    for step in options("step"):
        yield from _told_of_sequences({**base, "step": step}, step, options)
    if "create" not in base and "append" not in written and "append_many" not in written:
        return
    appends = options("append") or ([written["append_many"]] if "append_many" in written else [])
    if not appends:
        appends = [
            replace(many, role="append") for many in options("append_many") if _EXTENDS.search(many.name)
        ]
    for append in appends:
        for pair in _told_of_sequences({**base, append.role: append}, append, options):
            yield from _attended(pair, written, options)
    # Storage alone is what is left when nothing attends over it.
    for append in appends:
        for pair in _told_of_sequences({**base, append.role: append}, append, options):
            for read in options("read"):
                yield {**pair, "read": read}


def _told_of_sequences(
    pair: Option, append: Binding, options: Callable[[str], list[Binding]]
) -> Iterator[Option]:
    """The same, and with what tells the cache of its sequences and tokens, where they go in one by one."""
    adds: list[Option] = [{}]
    if append.takes("sequence") or append.takes("rows"):
        adds += [{"add": add} for add in options("add")[:2]]
    # first with room made: a cache that wants to be asked for it may have some to begin with; what appends
    # and counts by itself sees to it that there is some
    counted_apart = bool(set(TICKS) & set(pair))
    room = [each for each in options("reserve") if counted_apart or not _CHECKS.search(each.name)][:1]
    around: list[Option] = [*({"reserve": reserve} for reserve in room), {}]
    for reserve in around:
        for add in adds:
            told = {**add, **reserve}
            if len({binding.target for binding in told.values()}) == len(told):
                yield {**pair, **told}


def _attended(pair: Option, written: Option, options: Callable[[str], list[Binding]]) -> Iterator[Option]:
    """Storage with attention over it."""
    for attend in options("attend"):
        yield {**pair, "attend": attend, **({"read": written["read"]} if "read" in written else {})}
    for attention in options("attention"):
        for read in [None, *options("read")]:
            yield {**pair, "attention": attention, **({"read": read} if read else {})}


def owner_of(search: Search, bound: Option) -> Owner | None:
    """What the cache is that is made; ``None`` where it cannot be."""
    if "create" not in bound:
        return Owner()
    with search.guess():
        return Owner.of(search.worker, bound["create"])
    return None


def members(search: Search, bound: Option, role: Role, most: int = MOST) -> list[Binding]:
    """Methods of the cache that is made, and functions that are handed it, which may play a role."""
    owner = owner_of(search, bound)
    return matched(search, role, owner=owner, stateful=True)[:most] if owner else []
