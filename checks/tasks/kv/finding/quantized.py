"""Finding a submission's quantized caches: classes of their own, fed and read like the plain one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYOUTS, SOLO
from judge_tui.checks.tasks.kv.finding import positions, trial
from judge_tui.checks.tasks.kv.finding.signatures import Owner, as_told, matched
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.parameters import BITS
from judge_tui.checks.tasks.kv.words.roles import ByRole
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["PREFIXES", "find", "roles_of"]

Inventories = Mapping[str, Mapping[str, Any]]
_ROLES = {role.name: role for role in (*roles.ROLES, ADD)}
_PARTS = ("append", "read")
_MORE = ("append_many", "attend", "add", "step")
#: Under what their roles are bound: most submissions have one, some one per width of the codes.
PREFIXES = ("quantized", "quantized_2", "quantized_3")
#: What tells a cache to quantize.
_SWITCH = re.compile(r"quanti[sz]|int_?8|int_?4|8_?bit|4_?bit", re.I)
#: What takes a word for how a cache stores, and words for codes.
_MODE = re.compile(r"(?i)mode|quanti[sz]|storage|precision|scheme|format|codec")
_WORDS = ("int8", "int4")
#: Eight bits are 1 % off, four bits 10 %; another reading of the interface is off by more than half.
_NEAR = 0.3


def roles_of(bound: Mapping[str, Binding], prefix: str = "quantized") -> ByRole | None:
    """The roles of a quantized cache under the plain ones' names; ``None`` when there is none."""
    if prefix not in bound or not {f"{prefix}_append", f"{prefix}_step"} & set(bound):
        return None
    own = {"create": bound[prefix]}
    for part in (*_PARTS, *_MORE):
        if f"{prefix}_{part}" in bound:
            own[part] = replace(bound[f"{prefix}_{part}"], role=part)
    return own


def find(
    worker: Worker,
    loaded: Inventories,
    bound: ByRole,
    rejected: dict[str, list[str]],
    fatal: dict[str, Fault],
) -> None:
    """Bind the quantized caches with the calls that feed them and read them back.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        bound: Role → binding; added to.
        rejected: Role → what was tried.
        fatal: Callables that ended the process; added to.
    """
    tried = rejected.setdefault("quantized", [])
    written = {part: bound.pop(f"quantized_{part}", None) for part in (*_PARTS, *_MORE)}
    create = bound.pop("quantized", None)
    options = [create] if create else matched(worker, loaded, roles.QUANTIZED, constructors=True)
    if not options and "create" in bound:
        plain = bound["create"]
        options = _switched(loaded, plain) or _named(worker, loaded, plain) or _of_bits(loaded, plain)
    prefixes = iter(PREFIXES)
    for option in options[:4]:
        try:
            owner = Owner.of(worker, loaded, option)
        except Fault as fault:
            if not worker.alive:
                raise
            tried.append(f"{option.target} {fault.message}")
            continue
        own = _settled(worker, loaded, option, owner, written, tried, fatal)
        prefix = next(prefixes, "") if own else ""
        if own and prefix:
            bound[prefix] = own["create"]
            bound.update({f"{prefix}_{part}": b for part, b in own.items() if part != "create"})


def _switched(loaded: Inventories, plain: Binding) -> list[Binding]:
    """The plain cache, told to quantize: ``KVCache(…, quantize=True)``."""
    return [
        _told(plain, param["name"], True)
        for param in _params(loaded, plain)
        if param.get("default") is False and _SWITCH.search(param["name"])
    ]


def _named(worker: Worker, loaded: Inventories, plain: Binding) -> list[Binding]:
    """The plain cache, told by one of the words that it knows how to store: ``KVCache(…, mode="int8")``."""
    known = []
    for param in _params(loaded, plain):
        if not (isinstance(param.get("default"), str) and _MODE.search(param["name"])):
            continue
        if _makes(worker, _told(plain, param["name"], "no such mode")):
            continue
        known += [told for word in _WORDS if _makes(worker, told := _told(plain, param["name"], word))]
    return known


def _of_bits(loaded: Inventories, plain: Binding) -> list[Binding]:
    """The plain cache, made from an object that can be told the bits of a code: ``Spec(…, bits=8)``."""
    told = []
    for index, argument in enumerate(plain.args):
        for param in _params_of(loaded, *argument.made.rpartition(":")[::2]) if argument.made else ():
            if BITS.means(param["name"]) and "default" in param:
                wider = replace(argument, parts=(*argument.parts, (param["name"], BITS.name)))
                args = (*plain.args[:index], wider, *plain.args[index + 1 :])
                told.append(replace(plain, role="quantized", args=args))
    return told


def _params(loaded: Inventories, plain: Binding) -> Sequence[Mapping[str, Any]]:
    """The parameters of what makes the plain cache."""
    return _params_of(loaded, plain.file, plain.name)


def _params_of(loaded: Inventories, file: str, name: str) -> Sequence[Mapping[str, Any]]:
    inventory = loaded.get(file, {})
    made = [*inventory.get("classes", ()), *inventory.get("functions", ())]
    return next((each["params"] or () for each in made if each["name"] == name), ())


def _told(plain: Binding, keyword: str, value: object) -> Binding:
    return replace(plain, role="quantized", args=(*plain.args, Argument("", keyword, literal=value)))


def _makes(worker: Worker, option: Binding) -> bool:
    try:
        invoke(worker, option, Sizes().inputs(), budget=10.0)
    except Fault:
        if not worker.alive:
            raise
        return False
    return True


def _settled(
    worker: Worker,
    loaded: Inventories,
    create: Binding,
    owner: Owner,
    written: Mapping[str, Binding | None],
    tried: list[str],
    fatal: dict[str, Fault],
) -> ByRole | None:
    def calls(part: str, most: int = 3) -> list[Binding]:
        if own := written.get(part):
            return [own]
        named = matched(worker, loaded, _ROLES[part], owner=owner, stateful=True)[:most]
        told = [as_told(option, create) for option in named]
        if part != "attend":
            return told
        return [each for option in told for each in positions.told(worker, loaded, option)]

    best: tuple[ByRole, trial.Trial] | None = None
    for append in calls("append") or calls("append_many"):
        # What gives everything back as it takes more in needs no call that reads.
        for read in [*calls("read"), None]:
            bases = _told_of_sequences({"create": create}, append, calls)
            for option, result in _readings(worker, bases, append, read, fatal):
                nearer = best is None or result.error < best[1].error
                if result.ran and nearer and (result.error <= _NEAR or _plainly_meant(worker, option)):
                    best = option, result
                if best and best[1].error <= _NEAR:
                    break
            else:
                names = ", ".join(b.target for b in (create, append, *([read] if read else [])))
                tried.append(f"{names}: {result.said or 'far off'}")
                continue
            return _completed(worker, best[0], calls)
    if best is None:
        return _attending(worker, create, calls, tried)
    return _completed(worker, best[0], calls)


def _attending(worker: Worker, create: Binding, calls: Any, tried: list[str]) -> ByRole | None:
    """A cache that attends over its codes, fused with feeding or apart, and hands nothing of them out."""
    for step in calls("step"):
        for base, one in itertools.product(
            _told_of_sequences({"create": create}, step, calls), _orders(step)
        ):
            option = {**base, "step": replace(one, role="step")}
            result = trial.steps(worker, option)
            if result.ran and result.error <= _NEAR:
                return option
        tried.append(f"{create.target}, {step.target}: {result.said or 'far off'}")
    for append, attend in itertools.product(calls("append"), calls("attend")):
        for base, one in itertools.product(
            _told_of_sequences({"create": create}, append, calls), _orders(append)
        ):
            for other in _orders(attend):
                option = {**base, "append": replace(one, role="append"), "attend": other}
                result = trial.steps(worker, option)
                if result.ran and result.error <= _NEAR:
                    return option
        names = ", ".join(b.target for b in (create, append, attend))
        tried.append(f"{names}: {result.said or 'far off'}")
    return None


def _told_of_sequences(base: ByRole, append: Binding, calls: Any) -> list[ByRole]:
    """The same, and with what hands out a sequence before it is written, where they go in one by one."""
    adds = calls("add", 2) if append.takes("sequence") else []
    return [base, *({**base, "add": add} for add in adds)]


def _readings(
    worker: Worker, bases: list[ByRole], append: Binding, read: Binding | None, fatal: dict[str, Fault]
) -> Iterator[tuple[ByRole, trial.Trial]]:
    """The two calls under every axis order, with how a short run went."""
    for base, one in itertools.product(bases, _orders(append)):
        own = {**base, "append": replace(one, role="append")}
        for other in _orders(read) if read else [None]:
            option = {**own, "read": replace(other, role="read")} if other else own
            yield option, trial.survived(fatal, option, partial(trial.steps, worker, option))


def _plainly_meant(worker: Worker, option: ByRole) -> bool:
    """Whether values that are far off are what it takes for the keys and values.

    Two arrays of floating point, handed back in the axis order in which they went in; codes and
    scales that are handed out instead are no wrong answer but another interface.
    """
    if "read" in option and not _same_order(option["append"].layout, option["read"].layout):
        return False
    return trial.gives_floats(worker, option)


def _same_order(one: str, other: str) -> bool:
    """Whether two layouts name the axes in one order; that of a single token may go without its axis."""
    one, other = one.replace("B", ""), other.replace("B", "")
    return one == other or ("N" not in one and one == other.replace("N", ""))


def _completed(worker: Worker, option: ByRole, calls: Any) -> ByRole:
    """The same with what feeds several tokens at once, and what attends, where there is such a thing."""
    layout = option["append"].layout
    wide = layout if "N" in layout else layout.replace("H", "HN")
    for many in (option["append"], *calls("append_many")):
        extra = {"append_many": replace(many, role="append_many", layout=wide)}
        result = trial.held_many(worker, {**option, **extra})
        if result.ran and result.error <= _NEAR:
            option = {**option, **extra}
            break
    ran: list[Binding] = []
    for attend in calls("attend"):
        for one in _orders(attend):
            result = trial.steps(worker, {**option, "attend": one})
            if result.ran and result.error <= _NEAR:
                return {**option, "attend": one}
            if result.ran and one.layout.replace("B", "") == layout.replace("B", ""):
                ran.append(one)
    return {**option, "attend": ran[0]} if ran else option


def _orders(binding: Binding) -> list[Binding]:
    if binding.layout:
        return [binding]
    layouts = SOLO[:3] if binding.takes("sequence") else (*(o for o in LAYOUTS if "E" not in o), *SOLO[:3])
    return [replace(binding, layout=layout) for layout in layouts]
