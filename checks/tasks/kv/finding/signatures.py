"""Callables that may play a role of a cache, by name and signature, and how each would be called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.binding.packed import pack, packs, settings
from judge_tui.checks.binding.signatures import arguments
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.words.parameters import BITS, K, V, takes
from judge_tui.checks.tasks.kv.words.roles import SIZES
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["Owner", "as_argument", "as_told", "called_with", "constructors", "matched"]

#: Names of class methods that make an instance.
_MAKES = frozenset({
    "create", "new", "empty", "init", "make", "build", "zeros", "allocate", "random", "random_init",
    "init_random", "from_config", "from_spec",
})  # fmt: skip

#: Keys and values in one argument.
_PAIR = takes(
    "kv",
    "kvs kv_pair kv_new new_kv kv_t kv_step pair key_value key_values keys_values keys_and_values k_v entry",
    required=True,
)


@dataclass(frozen=True, slots=True)
class Owner:
    """What a cache is.

    Attributes:
        kind: Name of its class; empty for dicts, tuples and lists, and where there is none yet.
        bare: Whether it is a plain container, or nothing yet.
    """

    kind: str = ""
    bare: bool = True

    @classmethod
    def of(
        cls, worker: Worker, maker: Binding, inputs: Mapping[str, Any] | None = None, name: str = "cache"
    ) -> Owner:
        """Make a cache, or a decoder, and look at it.

        Args:
            worker: Where the submission is.
            maker: What makes it.
            inputs: All that this may ask for; the sizes of a cache, when left out.
            name: What it is in canonical names.

        Raises:
            Fault: It cannot be made.
        """
        returned = invoke(worker, maker, inputs or Sizes().inputs(), budget=10.0)
        handle = returned.handle(name) if returned.has(name) else returned.result.handle
        return cls.seen(worker.describe(handle))

    @classmethod
    def seen(cls, tree: Mapping[str, Any]) -> Owner:
        """The same from a description."""
        named = str(tree.get("type", "")) if tree.get("kind") in ("object", "callable") else ""
        if tree.get("kind") == "callable" and not named.lstrip("_")[:1].isupper():
            # A function goes by its own name, an object that can be called by that of its class.
            named = ""
        return cls(named, not named)


def matched(
    search: Search,
    role: Role,
    *,
    owner: Owner | None = None,
    classes: bool = False,
    stateful: bool = False,
    on: str = "cache",
    sized: bool = False,
) -> list[Binding]:
    """Candidates for a role, likeliest first.

    Args:
        search: Where is looked.
        role: What is looked for.
        owner: The cache; its methods may play the role.
        classes: Whether a class itself may (its call makes the object).
        stateful: Whether the cache must come in: as an argument, or as the object whose method it is.
        on: The handle that ``owner`` is.
        sized: Whether an object of sizes is made as well where none is the default.
    """
    ranked: list[tuple[float, int, Binding]] = []
    made = constructors(search.loaded)
    sizes = replace(role, params=SIZES)
    for item in _routines(search.loaded, classes):
        file, name, params, line, cls = item
        if file == ADAPTER:
            continue
        score = _score(name, role)
        if score is None and classes and not cls and name.rpartition(".")[2] in _MAKES:
            # KVCache.create(...): a class method that makes one.
            score = _score(name.rpartition(".")[0], role)
        if score is None:
            continue
        for args, unsure in _called(search, params, role, sized=sized):
            binding = Binding(role.name, file, name, args, {}, why="its name and its parameters", line=line)
            own = 0.0
            if cls and owner is not None and cls == owner.kind and not owner.bare:
                binding, own = replace(binding, on=on), 0.25
            elif cls:
                # The method of an object that keeps nothing: attention that is made, and handed a cache.
                parts = made.get((file, cls)) if stateful and on == "cache" and binding.takes(on) else None
                init = called_with(search, parts, sizes) if parts is not None else None
                if init is None:
                    continue
                binding = replace(binding, init=init)
            elif stateful and not (binding.takes(on) or binding.takes("cache_k")):
                continue
            ranked.append((score + unsure - own, len(ranked), binding))
    return [binding for _score_, _index, binding in sorted(ranked, key=lambda r: r[:2])]


def _called(
    search: Search, params: Sequence[Mapping[str, Any]], role: Role, *, sized: bool
) -> Iterator[tuple[tuple[Argument, ...], float]]:
    """How a signature is called, and how unsure that is; keys and values may go in as one argument."""
    if (args := called_with(search, params, role, sized=sized)) is not None:
        yield args, 0.0
        return
    others = tuple(param for param in role.params if param.name not in (K.name, V.name))
    if len(others) != len(role.params) - 2:
        return
    args = called_with(search, params, replace(role, params=(_PAIR, *others)), sized=sized) or ()
    for unsure, made in ((0.1, "tuple"), (0.2, "stack")) if args else ():
        pair = Argument("", parts=((K.name, K.name), (V.name, V.name)), made=made)
        yield tuple(replace(pair, keyword=a.keyword) if a.source == _PAIR.name else a for a in args), unsure


def constructors(loaded: Inventories) -> dict[tuple[str, str], Sequence[Mapping[str, Any]]]:
    """File and class → what it is made from; classes that cannot be made are left out."""
    return {
        (file, cls["name"]): cls["params"]
        for file, inventory in loaded.items()
        for cls in inventory.get("classes", ())
        if cls["params"] is not None
    }


def _routines(
    loaded: Inventories, classes: bool
) -> Iterator[tuple[str, str, Sequence[Mapping[str, Any]], int, str]]:
    for item in callables(loaded):
        yield item.file, item.name, item.params, item.line, str(item.owner["name"]) if item.owner else ""
    if not classes:
        return
    for file, inventory in loaded.items():
        for cls in inventory.get("classes", ()):
            if cls["params"] is not None:
                yield file, cls["name"], cls["params"], cls["line"], ""


def _score(name: str, role: Role) -> float | None:
    own = name.rpartition(".")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", own).lower()
    if own.startswith("_") and own not in ("__call__", "__delitem__"):
        return None
    if role.avoid and _any_of(role.avoid).search(words):
        return None
    for index, pattern in enumerate(role.patterns):
        if re.search(pattern, words) or re.search(pattern, own.lower()):
            return float(index)
    return None


@lru_cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def called_with(
    search: Search, params: Sequence[Mapping[str, Any]], role: Role, *, sized: bool = False
) -> tuple[Argument, ...] | None:
    """How a signature is called, with the objects of sizes that it wants; ``None`` when it cannot be.

    Args:
        search: Where is looked.
        params: The signature.
        role: What is to be played; an object may be told the sizes of the cache besides.
        sized: Whether such an object is made as well where none is the default.
    """
    asked = [p for p in params if "default" not in p or (sized and p["default"] is None)]
    objects = settings(search.loaded, asked, _told(role), also=SIZES)
    for name in (str(p["name"]) for p in asked if packs(p["name"], role)):
        read = (pack(search.worker.submission, file, name, (), _sized(role)) for file in search.loaded)
        if name not in objects and (parts := tuple(dict.fromkeys(chain.from_iterable(read)))):
            objects[name] = Argument("", parts=parts)
    called = arguments(params, role, packed=objects)
    return None if called is None else called[0]


@lru_cache
def _told(role: Role) -> Role:
    """What an object is told: all; but how many bits a code has, what keeps codes alone."""
    return replace(role, params=tuple(replace(p, spare=p.spare and p.name == BITS.name) for p in role.params))


@lru_cache
def _sized(role: Role) -> Role:
    """The sizes among what a role takes, and those of a cache."""
    return replace(role, params=tuple(p for p in (*role.params, *SIZES) if p.kind == "int" and not p.spare))


def as_told(binding: Binding, *makers: Binding) -> Binding:
    """The same call, with the object of sizes that something was made from, where it takes one as well."""
    told = {argument.made: argument for maker in makers for argument in maker.args if argument.made}
    args = tuple(
        replace(told[a.made], keyword=a.keyword) if a.made and a.made in told else a for a in binding.args
    )
    return replace(binding, args=args)


def as_argument(search: Search, maker: Binding) -> Argument | None:
    """What a call makes, handed over; ``None`` where it cannot be made by keywords alone."""
    params = search.params(maker.target)
    if not maker.args or any(a.parts or not a.source for a in maker.args) or len(params) < len(maker.args):
        return None
    names = [a.keyword or str(param["name"]) for a, param in zip(maker.args, params, strict=False)]
    sources = [f"{a.form}:{a.source}" if a.form else a.source for a in maker.args]
    return Argument("", parts=tuple(zip(names, sources, strict=True)), made=maker.target)
