"""What is bound once a cache is found: several tokens at once, reading it back, what lengths count."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.finding import trials
from judge_tui.checks.tasks.kv.finding.advancing import miscounts
from judge_tui.checks.tasks.kv.finding.combinations import MOST, owner_of
from judge_tui.checks.tasks.kv.finding.readings import (
    ASIDE,
    all_layers_go_in,
    layouts,
    many_layouts,
)
from judge_tui.checks.tasks.kv.finding.signatures import matched
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.masks import functions_of

__all__ = ["settle_lengths", "settle_many", "settle_read"]

_ROLES = {role.name: role for role in roles.ROLES}
_COUNTS = re.compile(r"(?i)fresh|new|count|lens?$|lengths?$|valid|real|num|^n_")
#: Parameters of unknown name that are tried.
_MOST_UNNAMED = 3


def settle_many(search: Search, bound: Option, written: Option) -> None:
    """Bind what takes several tokens at once, when there is such a thing."""
    _settle_at_once(search, bound, written)
    if not written and "create" in bound and ("step" in bound or {"append", "attend"} <= set(bound)):
        _settle_prompts(search, bound)


def _settle_prompts(search: Search, bound: Option) -> None:
    """Bind what stores the prompt of one sequence beside steps of all, which takes no several tokens itself.

    Right it is where prompts alike in length are: that others go in rightly is what is judged.
    """
    feeding = [bound[name] for name in ("step", "append", "attend") if name in bound]
    one = feeding[0]
    if "step_many" in bound or any("B" not in b.layout or {"N", "P"} & set(b.layout) for b in feeding):
        return
    owner, known = owner_of(search, {"create": bound["create"]}), bound.get("append_many")
    usable = known is None or not known.takes("sequence") or trials.prompts(search, bound).right
    if owner is None or (known is not None and usable):
        return
    bound.pop("append_many", None)
    for option in matched(search, _ROLES["append_many"], owner=owner, stateful=True)[:MOST]:
        if not option.takes("sequence") or option.target in {binding.target for binding in feeding}:
            continue
        for layout in many_layouts(option, one.layout):
            extra = {"append_many": replace(option, layout=layout)}
            if trials.prompts(search, {**bound, **extra}).right:
                bound.update(extra)
                return


def _settle_at_once(search: Search, bound: Option, written: Option) -> None:
    one, many = ("step", "step_many") if "step" in bound else ("append", "append_many")
    if many in bound or one not in bound:
        return
    owner = owner_of(search, {"create": bound["create"]} if "create" in bound else {})
    options = [
        option
        for option in matched(search, _ROLES[many], owner=owner, stateful=True)[:MOST]
        if option.target != bound[one].target and option.on == bound[one].on
    ] if owner else []  # fmt: skip
    named = [
        o
        for o in options
        if "prefill" in o.name.lower() or "many" in o.name.lower() or "seq" in o.name.lower()
    ]
    same = replace(bound[one], role=many)
    ran: list[Option] = []
    for option in [*named, same, *(o for o in options if o not in named)]:
        orders = many_layouts(option, bound[one].layout)
        if option is same and not ("L" in bound[one].layout and "N" not in bound[one].layout):
            orders = [bound[one].layout]
        for layout in orders:
            if "N" not in layout:
                continue
            extra = {many: replace(option, layout=layout)}
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
    owner = owner_of(search, {"create": bound["create"]} if "create" in bound else {})
    if "read" in bound or owner is None:
        return
    every = all_layers_go_in(bound)
    for option in matched(search, _ROLES["read"], owner=owner, stateful=True)[:MOST]:
        for layout in layouts(option, every):
            extra = {"read": replace(option, layout=layout)}
            if trials.held(search, {**bound, **extra}).right:
                bound.update(extra)
                return


def settle_lengths(search: Search, bound: Option, written: Option) -> None:
    """Whether lengths count what is new or what is stored: the reading under which ragged rows are right."""
    names: list[str] = [
        n for n in ("step", "step_many", "append", "append_many") if n in bound and n not in written
    ]
    _settle_counts(search, bound, names, written)
    taking = [n for n in names if bound[n].takes("lengths") or bound[n].takes("bounds")]
    for tick in (n for n in TICKS if n in bound and n not in written and bound[n].takes("count")):
        each = {tick: bound[tick].handed(count="lengths")}
        if trials.ragged(search, {**bound, **each}).right:
            bound.update(each)
            return
    if not taking or trials.ragged(search, bound).right:
        return
    packed = _packed(bound, names)
    if packed and trials.ragged(search, {**bound, **packed}).right:
        bound.update(packed)
        return
    for source in ("totals", "before"):
        other = {n: bound[n].handed(lengths=source) for n in taking}
        if trials.ragged(search, {**bound, **other}).right:
            bound.update(other)
            return


def _settle_counts(search: Search, bound: Option, feeding: list[str], written: Option) -> None:
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
        for parameter in _unnamed(search.loaded, calls):
            if names != feeding and not _COUNTS.search(parameter):
                continue
            told = Argument("lengths", keyword=parameter)
            each = {name: replace(binding, args=(*binding.args, told)) for name, binding in calls.items()}
            if trials.ragged(search, {**bound, **each}).right:
                bound.update(each)
                break


def _tells_apart(binding: Binding) -> bool:
    """Whether a call is told of each sequence by itself, or takes one alone."""
    told = (
        "lengths", "totals", "bounds", "active", "positions", "first_positions", "query_positions", "rows",
        "sequence",
    )  # fmt: skip
    return "B" not in binding.layout or any(binding.takes(name) for name in told)


def _unnamed(loaded: Inventories, calls: Option) -> list[str]:
    """Parameters that all of some calls have, which are None by default and are not handed over."""
    params = {f"{each.file}:{each.name}": each.params for each in callables(loaded)}
    open_ = [
        [
            str(p["name"])
            for p in params.get(binding.target, ())
            if "default" in p and p["default"] is None and not ASIDE.search(p["name"])
            if p["name"] not in {argument.keyword for argument in binding.args}
        ]
        for binding in calls.values()
    ]
    return [name for name in open_[0] if all(name in others for others in open_)][:_MOST_UNNAMED]


def _packed(bound: Option, feeding: list[str]) -> Option:
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
