"""What is bound once a cache is found: several tokens at once, reading it back, what lengths count."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.finding import trials
from judge_tui.checks.tasks.kv.finding.advancing import miscounts
from judge_tui.checks.tasks.kv.finding.combinations import members
from judge_tui.checks.tasks.kv.finding.readings import (
    ASIDE,
    all_layers_go_in,
    layouts,
    many_layouts,
)
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.masks import functions_of

__all__ = ["settle_lengths", "settle_many", "settle_read", "settle_room"]

_COUNTS = re.compile(r"(?i)fresh|new|count|lens?$|lengths?$|valid|real|num|^n_")
#: Parameters of unknown name that are tried.
_MOST_UNNAMED = 3


def settle_room(search: Search, bound: Option) -> None:
    """Tell a cache that all its sequences share the room of all, where that of one is refused to several."""
    create = bound.get("create")
    if create is None or not create.takes("max_len") or create.takes("batch"):
        return
    feeding = [bound[name] for name in ("append", "step") if name in bound]
    if not any(one.takes("sequence") for one in feeding) or trials.fills(search, bound).ran:
        return
    shared = {"create": create.handed(max_len="all_tokens")}
    if trials.fills(search, {**bound, **shared}).ran:
        bound.update(shared)


def settle_many(search: Search, bound: Option, written: Option) -> None:
    """Bind what takes several tokens at once, when there is such a thing."""
    _settle_at_once(search, bound)
    if not written and "create" in bound and ("step" in bound or {"append", "attend"} <= set(bound)):
        _settle_prompts(search, bound)


def _settle_prompts(search: Search, bound: Option) -> None:
    """Bind what stores the prompt of one sequence beside steps of all, which takes no several tokens itself.

    Right it is where prompts alike in length are: that others go in rightly is what is judged.
    """
    feeding = [bound[name] for name in ("step", "append", "attend") if name in bound]
    if "step_many" in bound or any("B" not in b.layout or {"N", "P"} & set(b.layout) for b in feeding):
        return
    options, known = members(search, bound, roles.BY_NAME["append_many"]), bound.get("append_many")
    if known is not None and (not known.takes("sequence") or trials.prompts(search, bound).right):
        return
    bound.pop("append_many", None)
    taken = {binding.target for binding in feeding}
    apart = [option for option in options if option.takes("sequence") and option.target not in taken]
    bound.update(search.first(bound, _wide(apart, "append_many", feeding[0].layout), trials.prompts))


def _wide(options: Iterable[Binding], role: str, layout: str) -> Iterator[Option]:
    """Calls of several tokens in the orders of axes that go with one of single tokens in ``layout``."""
    for option in options:
        yield from ({role: replace(option, layout=order)} for order in many_layouts(option, layout))


def _settle_at_once(search: Search, bound: Option) -> None:
    one, many = ("step", "step_many") if "step" in bound else ("append", "append_many")
    if many in bound or one not in bound:
        return
    single, ran = bound[one], list[Option]()
    options = [
        option
        for option in members(search, bound, roles.BY_NAME[many])
        if option.target != single.target and option.on == single.on
    ]
    named = [option for option in options if re.search("prefill|many|seq", option.name.lower())]
    same = replace(single, role=many)
    for option in [*named, same, *(o for o in options if o not in named)]:
        own = option is same and not ("L" in single.layout and "N" not in single.layout)
        orders = [{many: same}] if own else _wide([option], many, single.layout)
        for extra in (order for order in orders if "N" in order[many].layout):
            result = trials.held_many(search, {**bound, **extra})
            if result.right:
                bound.update(_in_lists(search, bound, extra))
                return
            if result.ran and (option in named or _meant(search, bound, extra)):
                ran.append(extra)
    if ran:
        bound.update(ran[0])


def _in_lists(search: Search, bound: Option, extra: Option) -> Option:
    """The same call handed a list with an array for each sequence, where nothing else tells lengths apart."""
    ((many, binding),) = extra.items()
    listed = {many: replace(binding, layout=binding.layout.replace("B", "R"))}
    if "B" not in binding.layout or _tells_apart(binding):
        return extra
    result = trials.ragged(search, {**bound, **listed})
    # what goes row by row through one array may run with others by accident
    return listed if result.right or (result.ran and _speaks_of_lists(search, binding)) else extra


def _speaks_of_lists(search: Search, binding: Binding) -> bool:
    """Whether the annotations or the docstring of a callable say that it takes lists."""
    functions = functions_of(search.worker.submission, binding.file) if binding.origin == "found" else {}
    return any(
        re.search(r"(?i)\blists?\b|sequence\[", f"{ast.unparse(node.args)} {ast.get_docstring(node)}")
        for node in functions.get(binding.name.rpartition(".")[2], [])
    )


def _meant(search: Search, bound: Option, extra: Option) -> bool:
    """Whether several tokens are what a call is for, though answers are wrong; then it is judged as such.

    So it is where one call appends and attends, where the cache is advanced by another number than it is
    told, and where it holds all of them, so that attention over several queries is at fault.
    """
    (binding,) = extra.values()
    if binding.role == "step_many":
        return binding.target == bound["step"].target
    both = {**bound, **extra}
    return (binding.target == bound["append"].target and miscounts(search, both, 4)) or (
        "attend" in bound and trials.stored_many(search, both).right
    )


def settle_read(search: Search, bound: Option) -> None:
    """Bind what reads the cache back, where attention needs none of it: some checks look into the cache."""
    if "read" in bound:
        return
    every = all_layers_go_in(bound)
    reads = (
        {"read": replace(option, layout=layout)}
        for option in members(search, bound, roles.BY_NAME["read"])
        for layout in layouts(option, every)
    )
    bound.update(search.first(bound, reads, trials.held))


def settle_lengths(search: Search, bound: Option, written: Option) -> None:
    """Whether lengths count what is new or what is stored: the reading under which ragged rows are right."""
    names = [n for n in ("step", "step_many", "append", "append_many") if n in bound and n not in written]
    _settle_counts(search, bound, names, written)
    ticks = [n for n in TICKS if n in bound and n not in written and bound[n].takes("count")]
    each = search.first(bound, ({n: bound[n].handed(count="lengths")} for n in ticks), trials.ragged)
    taking = [n for n in names if bound[n].takes("lengths") or bound[n].takes("bounds")]
    if not each and taking:
        each = search.first(bound, _counting(bound, names, taking), trials.ragged)
    bound.update(each)


def _counting(bound: Option, names: Sequence[str], taking: Sequence[str]) -> Iterator[Option]:
    """What lengths may count: what is new, tokens behind each other, what is stored with it or before."""
    yield {}
    if packed := _packed(bound, names):
        yield packed
    for source in ("totals", "before"):
        yield {n: bound[n].handed(lengths=source) for n in taking}


def _settle_counts(search: Search, bound: Option, feeding: Sequence[str], written: Option) -> None:
    """Hand the new tokens of each sequence to what its name does not show to take them.

    What feeds the cache is told by a parameter under which ragged rows are right; attention then by one whose
    name speaks of numbers, for its steps are right without it as well.
    """
    for names in (feeding, ["attend"] if feeding and "attend" in bound and "attend" not in written else []):
        calls = {name: bound[name] for name in names}
        if not calls or any(_tells_apart(binding) for binding in calls.values()):
            continue
        if names != feeding and not any(bound[name].takes("lengths") for name in feeding):
            return
        told = (
            {
                name: replace(b, args=(*b.args, Argument("lengths", keyword=parameter)))
                for name, b in calls.items()
            }
            for parameter in _unnamed(search, calls)
            if names == feeding or _COUNTS.search(parameter)
        )
        bound.update(search.first(bound, told, trials.ragged))


def _tells_apart(binding: Binding) -> bool:
    """Whether a call is told of each sequence by itself, or takes one alone."""
    told = (
        "lengths", "totals", "bounds", "active", "positions", "first_positions", "query_positions", "rows",
        "sequence",
    )  # fmt: skip
    return "B" not in binding.layout or any(binding.takes(name) for name in told)


def _unnamed(search: Search, calls: Option) -> list[str]:
    """Parameters that all of some calls have, which are None by default and are not handed over."""
    open_ = [
        [
            str(p["name"])
            for p in search.params(binding.target)
            if "default" in p and p["default"] is None and not ASIDE.search(p["name"])
            if p["name"] not in {argument.keyword for argument in binding.args}
        ]
        for binding in calls.values()
    ]
    return [name for name in open_[0] if all(name in others for others in open_)][:_MOST_UNNAMED]


def _packed(bound: Option, feeding: Sequence[str]) -> Option:
    """The same calls with the tokens of all sequences behind each other; nothing where they cannot be.

    Of one token each they look like a batch without an axis of tokens.
    """
    calls = {n: bound[n] for n in (*feeding, "attend") if n in bound}
    if any(binding.layout != "BHD" for binding in calls.values()):
        return {}
    several = {
        many: bound[one] for one, many in (("step", "step_many"), ("append", "append_many")) if one in calls
    }
    return {n: replace(binding, role=n, layout="PHD") for n, binding in {**several, **calls}.items()}
