"""The axis orders under which calls may be meant, and when answers that are wrong count all the same."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYOUTS, ONE_HEAD, SOLO, layered, one_headed
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.finding.positions import alone
from judge_tui.checks.tasks.kv.words.reference import ONLY_THE_FIRST, ORDERLY

__all__ = [
    "ASIDE",
    "all_layers_go_in",
    "beyond_doubt",
    "is_the_mistake",
    "layouts",
    "many_layouts",
    "may_be_misplaced",
    "plainly_meant",
    "readings",
]

#: Parameters of attention that say nothing of where a query stands.
ASIDE = re.compile(
    r"(?i)mask|causal|scale|drop|dtype|eps|return|weight|out$|self|bias|alibi|softcap|temperature|window|sink"
)


def readings(combination: Option, written: Option) -> Iterator[Option]:
    """The combination under every axis order that its calls allow; a written layout stays."""
    every, heads = all_layers_go_in(combination), may_have_one_head(combination)
    free = {
        name: (*layouts(binding, every), *(ONE_HEAD if heads else ()))
        for name, binding in combination.items()
        if name not in ("create", *TICKS, "add", "reserve") and not (name in written and binding.layout)
    }
    names = list(free)
    for chosen in sorted(itertools.product(*(range(len(free[name])) for name in names)), key=_uneven):
        yield {
            **combination,
            **{
                name: _wired(replace(combination[name], layout=free[name][index]))
                for name, index in zip(names, chosen, strict=True)
            },
        }


def _wired(binding: Binding) -> Binding:
    attends = binding.role in ("attend", "attention")
    return alone(binding) if attends and "B" not in binding.layout else binding


def _uneven(indices: Sequence[int]) -> tuple[int, int]:
    return len(set(indices)), sum(indices)


def all_layers_go_in(combination: Mapping[str, Binding]) -> bool:
    """Whether a call may take what all layers get: the cache is made for several, and it names none."""
    create = combination.get("create")
    feeding = combination.get("step") or combination.get("append") or combination.get("append_many")
    if create is None or feeding is None or not create.takes("layers"):
        return False
    return not feeding.takes("layer")


def may_have_one_head(combination: Mapping[str, Binding]) -> bool:
    """Whether rows may be all that a cache keeps: it is made, and told of no heads."""
    create = combination.get("create")
    told = ("heads", "kv_heads", "embed", "layers", "batch")
    return create is not None and not any(create.takes(name) for name in told)


def layouts(binding: Binding, every: bool = False) -> tuple[str, ...]:
    """Axis orders that a call may want, likeliest first.

    Args:
        binding: The call.
        every: Whether what all layers get may go in together (see :func:`all_layers_go_in`).
    """
    solo = binding.takes("sequence")
    orders = (*SOLO[:3], "BHND", "BNHD") if solo else (*LAYOUTS, *SOLO[:3])
    if not every or binding.takes("layer"):
        return orders
    if solo:
        return (*layered(SOLO[:3]), *orders)
    # a token of one sequence goes into an array of all layers as that of one does: it would be that of each
    return (*layered(LAYOUTS), *(layered(SOLO[:3]) if binding.role == "append" else ()), *orders)


def many_layouts(option: Binding, layout: str) -> list[str]:
    """Axis orders that a call of several tokens may want beside one of single tokens in ``layout``."""
    wide = layout if "N" in layout else layout.replace("H", "HN") if "H" in layout else layout
    orders = [wide, wide.replace("HN", "NH"), wide.replace("NH", "HN")]
    if layout.startswith("L"):
        # tokens may stand before the layers
        orders.append("N" + wide.replace("N", ""))
    if option.takes("sequence"):
        # A prompt of one sequence has no batch axis though steps may have one; or one of length one.
        solo = [order.replace("B", "") for order in orders]
        orders = [*solo, *(f"B{order}" for order in solo)]
    return list(dict.fromkeys(orders))


def is_the_mistake(read: Option, mistake: str, ticks: bool) -> bool:
    """Whether a usual mistake that every answer equals is the submission's, and not that of our reading.

    Args:
        read: The combination, as it was read.
        mistake: Words of the mistake.
        ticks: Whether it is a guess when the cache is advanced.
    """
    if ticks and mistake not in ORDERLY:
        return False
    # Answers that equal a wrong attention over what was fed prove the axis orders; zeros prove nothing.
    return mistake in ORDERLY or plainly_meant(read, ticks)


def may_be_misplaced(search: Search, read: Option, mistake: str) -> bool:
    """Whether plain attention may only not have been told where its queries stand: at the first key, then.

    Args:
        search: Whose attention it is.
        read: The combination, as it was read.
        mistake: What its answers equal.
    """
    if "attention" not in read or mistake != ONLY_THE_FIRST:
        return False
    binding = read["attention"]
    names = [str(param["name"]) for param in search.params(binding.target)]
    told = {a.keyword for a in binding.args} | set(names[: sum(not a.keyword for a in binding.args)])
    return any(name not in told and not ASIDE.search(name) for name in names)


def plainly_meant(combination: Option, ticks: bool) -> bool:
    """Whether calls that answer wrongly are made as they are meant: one axis order, up to dropped axes."""
    orders = {re.sub("[LBD]", "", binding.layout) for binding in combination.values()} - {"", "H"}
    headless = {one_headed(binding.layout) for binding in combination.values() if binding.layout}
    return len(orders) <= 1 and len(headless) <= 1 and not ticks


def _calls(combination: Option) -> dict[str, tuple[str, tuple[Argument, ...]]]:
    """How every call is made; what counts all tokens or the new ones is one way to attend."""
    told = {name: b.handed(totals="lengths") if name == "attend" else b for name, b in combination.items()}
    return {name: (binding.layout, binding.args) for name, binding in told.items()}


def beyond_doubt(ran: Sequence[Option]) -> list[Option]:
    """Of wrong combinations those that cannot be read otherwise: one axis order, or none other that runs."""

    def calls(option: Option, *left_out: str) -> list[tuple[str, str, str]]:
        return [(n, b.target, "" if n in left_out else b.layout) for n, b in sorted(option.items())]

    def sole(option: Option) -> bool:
        own = calls(option, "attend")
        alike = [_calls(other) for other in ran if calls(other, "attend") == own]
        return "attend" in option and all(each == _calls(option) for each in alike)

    return [option for option in ran if plainly_meant(option, ticks=False) or sole(option)]
