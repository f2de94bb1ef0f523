"""Finding a submission's quantized caches: classes of their own, fed and read like the plain one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judge_tui.checks.binding.solver import Family, Option, Search, Trial
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYOUTS, ONE_HEAD, SOLO
from judge_tui.checks.tasks.kv.finding import positions, trials
from judge_tui.checks.tasks.kv.finding.keeping import keeps_codes
from judge_tui.checks.tasks.kv.finding.paged import in_blocks, parts_of
from judge_tui.checks.tasks.kv.finding.signatures import Owner, as_told, matched
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.paging_roles import IN_BLOCKS
from judge_tui.checks.tasks.kv.words.parameters import BITS
from judge_tui.checks.tasks.kv.words.reference import ORDERLY
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["PREFIXES", "ROLES", "find", "of_pages", "roles_of"]

_ROLES = {role.name: role for role in (*roles.ROLES, ADD)}
_PARTS = ("append", "read")
_MORE = ("append_many", "attend", "add", "step")
#: What makes a quantized cache, and what is done with it.
ROLES = (
    roles.QUANTIZED,
    *(replace(_ROLES[part], name=f"quantized_{part}", required=False) for part in (*_PARTS, *_MORE)),
)
#: Under what their roles are bound: most submissions have one, some one per width of the codes.
PREFIXES = ("quantized", "quantized_2", "quantized_3")
#: What tells a cache to quantize.
_SWITCH = re.compile(r"quanti[sz]|int_?8|int_?4|8_?bit|4_?bit", re.I)
#: What takes a word for how a cache stores, and words for codes.
_MODE = re.compile(r"(?i)mode|quanti[sz]|storage|precision|scheme|format|codec")
_WORDS = ("int8", "int4")
#: Eight bits are 1 % off, four bits 10 %; another reading of the interface is off by more than half.
_NEAR = 0.3


def roles_of(bound: Mapping[str, Binding], prefix: str = "quantized") -> Option | None:
    """The roles of a quantized cache under the plain ones' names; ``None`` when there is none."""
    if prefix not in bound or not {f"{prefix}_append", f"{prefix}_step"} & set(bound):
        return None
    own = {"create": bound[prefix]}
    for part in (*_PARTS, *_MORE):
        if f"{prefix}_{part}" in bound:
            own[part] = replace(bound[f"{prefix}_{part}"], role=part)
    return own


def find(search: Search) -> None:
    """Bind the quantized caches with the calls that feed them and read them back."""
    bound = search.bound
    names = {f"quantized_{part}": part for part in (*_PARTS, *_MORE)}
    written = {part: bound.pop(name) for name, part in names.items() if name in bound}
    create = bound.pop("quantized", None)
    options = [create] if create else matched(search, roles.QUANTIZED, classes=True)
    if not options and "create" in bound:
        plain = bound["create"]
        options = _switched(search, plain) or _named(search, plain) or _of_bits(search, plain)
    _bind(search, [_told_of_blocks(search, option) for option in options[:4]], written)


def of_pages(search: Search) -> bool:
    """Take a paged cache that keeps codes for a quantized one, too, where there is no other.

    Returns:
        Whether the paged cache keeps codes.
    """
    parts = parts_of(search.bound)
    if parts is None or "create" not in parts or not keeps_codes(search, parts):
        return False
    if PREFIXES[0] not in search.bound:
        _bind(search, [replace(parts["create"], role="quantized")], {})
    return True


def _bind(search: Search, options: Sequence[Binding], written: Option) -> None:
    """Bind each of some caches with its calls, where these give back nearly what went in."""
    bound, prefixes = search.bound, iter(PREFIXES)
    for option in options:
        owner = None
        with search.guess() as guess:
            owner = Owner.of(search.worker, option)
        if owner is None:
            search.note("quantized", f"{option.target} {guess.said}")
            continue
        own = _settled(search, _Calls(search, option, owner, written))
        prefix = next(prefixes, "") if own else ""
        if own and prefix:
            bound[prefix] = own["create"]
            bound.update({f"{prefix}_{part}": b for part, b in own.items() if part != "create"})
            _forget(search, own)


def _told_of_blocks(search: Search, create: Binding) -> Binding:
    """The same, told how many blocks there are and how large they are, where it takes both."""
    wider = replace(roles.QUANTIZED, params=(*roles.QUANTIZED.params, *IN_BLOCKS))
    named = matched(search, wider, classes=True) if create.origin == "found" else []
    return next((one for one in named if one.target == create.target and in_blocks(one)), create)


def _forget(search: Search, own: Option) -> None:
    """Take back how calls of a quantized cache failed as those of a plain one."""
    targets = {binding.target for binding in own.values()}
    tried = search.tried("step")
    tried[:] = [line for line in tried if not targets.issuperset(line.partition(": ")[0].split(", "))]


def _switched(search: Search, plain: Binding) -> list[Binding]:
    """The plain cache, told to quantize: ``KVCache(…, quantize=True)``."""
    return [
        _told(plain, param["name"], True)
        for param in search.params(plain.target)
        if param.get("default") is False and _SWITCH.search(param["name"])
    ]


def _named(search: Search, plain: Binding) -> list[Binding]:
    """The plain cache, told by one of the words that it knows how to store: ``KVCache(…, mode="int8")``."""
    known = []
    for param in search.params(plain.target):
        if not (isinstance(param.get("default"), str) and _MODE.search(param["name"])):
            continue
        if _makes(search, _told(plain, param["name"], "no such mode")):
            continue
        known += [told for word in _WORDS if _makes(search, told := _told(plain, param["name"], word))]
    return known


def _of_bits(search: Search, plain: Binding) -> list[Binding]:
    """The plain cache, made from an object that can be told the bits of a code: ``Spec(…, bits=8)``."""
    told = []
    for index, argument in enumerate(plain.args):
        for param in search.params(argument.made):
            if BITS.means(param["name"]) and "default" in param:
                wider = replace(argument, parts=(*argument.parts, (param["name"], BITS.name)))
                args = (*plain.args[:index], wider, *plain.args[index + 1 :])
                told.append(replace(plain, role="quantized", args=args))
    return told


def _told(plain: Binding, keyword: str, value: object) -> Binding:
    return replace(plain, role="quantized", args=(*plain.args, Argument("", keyword, literal=value)))


def _makes(search: Search, option: Binding) -> bool:
    with search.guess():
        invoke(search.worker, option, Sizes().inputs(), budget=10.0)
        return True
    return False


@dataclass(frozen=True, slots=True)
class _Calls:
    """What may be called on a quantized cache.

    Attributes:
        search: Where is looked.
        create: What makes the cache.
        owner: What that is.
        written: Part → binding, by hand.
    """

    search: Search
    create: Binding
    owner: Owner
    written: Option

    def __call__(self, part: str, most: int = 3) -> list[Binding]:
        """Candidates for a part."""
        if part in self.written:
            return [self.written[part]]
        named = matched(self.search, _ROLES[part], owner=self.owner, stateful=True)[:most]
        told = [as_told(option, self.create) for option in named]
        if part != "attend":
            return told
        return [each for option in told for each in positions.told(self.search, option)]

    def stored(self) -> Iterator[Option]:
        """What feeds it and reads it back; what gives all back as it takes more in needs no reading."""
        for append in self("append") or self("append_many"):
            for read in [*self("read"), None]:
                for base in self._told_of_sequences(append):
                    yield base | {"append": replace(append, role="append")} | _playing("read", read)

    def attending(self) -> Iterator[Option]:
        """What attends over its codes, fused with feeding or apart, and hands nothing of them out."""
        for step in self("step"):
            for base in self._told_of_sequences(step):
                yield base | _playing("step", step)
        for append, attend in itertools.product(self("append"), self("attend")):
            for base in self._told_of_sequences(append):
                yield base | {"append": replace(append, role="append")} | _playing("attend", attend)

    def _told_of_sequences(self, append: Binding) -> list[Option]:
        """The cache, and what hands out a sequence before it is written, where they go in one by one."""
        adds = self("add", 2) if append.takes("sequence") else []
        base = {"create": self.create}
        return [base, *({**base, "add": add} for add in adds)]


def _playing(role: str, binding: Binding | None) -> Option:
    return {role: replace(binding, role=role)} if binding else {}


def _settled(search: Search, calls: _Calls) -> Option | None:
    stored = Family(
        "quantized",
        lambda _: calls.stored(),
        trials.steps,
        _readings,
        meant=lambda search, option, _: _plainly_meant(search, option),
        rank=lambda _, result: result.error,
        right=_NEAR,
    )
    if found := search.settle(stored):
        return _completed(search, found[0], calls)
    attending = replace(
        stored,
        options=lambda _: calls.attending(),
        trial=trials.coded_steps,
        meant=lambda search, option, result: result.mistake in ORDERLY,
    )
    found = search.settle(attending)
    return found[0] if found else None


def _readings(search: Search, option: Option) -> Iterator[Option]:
    """What feeds it, attends and reads, under every axis order."""
    names = [name for name in ("append", "step", "attend", "read") if name in option]
    rows = ONE_HEAD if _keeps_rows(option["create"]) else ()
    for chosen in itertools.product(*(_orders(option[name], rows) for name in names)):
        yield option | dict(zip(names, chosen, strict=True))


def _keeps_rows(create: Binding) -> bool:
    """Whether a scale can be that of a whole row alone: what is made is told its width, and of no heads."""
    return create.takes("embed") and not (create.takes("heads") or create.takes("kv_heads"))


def _plainly_meant(search: Search, option: Option) -> bool:
    """Whether values that are far off are what it takes for the keys and values.

    Two arrays of floating point, handed back in the axis order in which they went in; codes and
    scales that are handed out instead are no wrong answer but another interface.
    """
    if "read" in option and not _same_order(option["append"].layout, option["read"].layout):
        return False
    return trials.gives_floats(search, option)


def _same_order(one: str, other: str) -> bool:
    """Whether two layouts name the axes in one order; that of a single token may go without its axis."""
    one, other = one.replace("B", ""), other.replace("B", "")
    return one == other or ("N" not in one and one == other.replace("N", ""))


def _completed(search: Search, option: Option, calls: _Calls) -> Option:
    """The same with what feeds several tokens at once, and what attends, where there is such a thing."""
    return _attended(search, _fed_at_once(search, option, calls), calls)


def _fed_at_once(search: Search, option: Option, calls: _Calls) -> Option:
    layout = option["append"].layout
    wide = layout if "N" in layout else layout.replace("H", "HN")
    several = (option["append"], *calls("append_many"))
    extras = ({"append_many": replace(many, role="append_many", layout=wide)} for many in several)
    return option | search.first(option, extras, trials.held_many, _NEAR)


def _attended(search: Search, option: Option, calls: _Calls) -> Option:
    """The same with what attends over it: apart from what feeds it, or appending as well.

    What is wrong is meant in the axis order of what feeds the cache, unless it attends over a plain one, or
    takes tokens as well and says nothing of a cache.
    """
    layout = option["append"].layout.replace("B", "")
    plain = {search.bound[name].target for name in ("attend", "step", "attention") if name in search.bound}
    own = {option[name].target for name in ("append", "append_many", "read") if name in option}

    def meant(_search: Search, whole: Option, _result: Trial) -> bool:
        one = whole.get("attend") or whole["step"]
        named = one.role == "attend" or one.on or "cache" in one.name.lower()
        return one.layout.replace("B", "") == layout and bool(named) and one.target not in plain

    attending = Family(
        "quantized",
        lambda _: (
            option | {part: replace(one, role=part)}
            for part in ("attend", "step")
            for call in calls(part)
            if call.target not in own
            for one in _orders(call)
        ),
        trials.steps,
        meant=meant,
        right=_NEAR,
        claims=lambda _: False,
    )
    found = search.settle(attending)
    return found[0] if found else option


def _orders(binding: Binding, rows: Sequence[str] = ()) -> list[Binding]:
    if binding.layout:
        return [binding]
    layouts = SOLO[:3] if binding.takes("sequence") else (*(o for o in LAYOUTS if "E" not in o), *SOLO[:3])
    return [replace(binding, layout=layout) for layout in (*rows, *layouts)]
