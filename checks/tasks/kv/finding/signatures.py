"""Callables that may play a role of a cache, by name and signature, and how each would be called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.binding.packed import pack, packs
from judge_tui.checks.binding.signatures import arguments
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.submission import ADAPTER, Submission
from judge_tui.checks.tasks.kv.words.parameters import BITS, K, V, takes
from judge_tui.checks.tasks.kv.words.roles import SIZES
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["Configs", "Owner", "as_told", "constructors", "matched"]

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

#: What objects that hold sizes are called, and parameters that want one.
_CONFIG = re.compile(r"(?i)(config|cfg|conf|hparams|hyper_?param\w*|settings|options|spec|(model_?)?args)$")

_DTYPE = re.compile(r"float(16|32|64)$")
#: How a default that is a NumPy type is told.
_TYPE = re.compile(r"<class 'numpy\.float(16|32|64)'>$")


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
    def of(cls, worker: Worker, create: Binding) -> Owner:
        """Make a cache and look at it.

        Raises:
            Fault: It cannot be made.
        """
        returned = invoke(worker, create, Sizes().inputs(), budget=10.0)
        handle = returned.handle("cache") if returned.has("cache") else returned.result.handle
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
    made, configs = constructors(search.loaded), Configs.of(search.loaded, search.worker.submission)
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
        for args, unsure in _called(params, role, configs, sized=sized):
            binding = Binding(role.name, file, name, args, {}, why="its name and its parameters", line=line)
            own = 0.0
            if cls and owner is not None and cls == owner.kind and not owner.bare:
                binding, own = replace(binding, on=on), 0.25
            elif cls:
                # The method of an object that keeps nothing: attention that is made, and handed a cache.
                parts = made.get((file, cls)) if stateful and on == "cache" and binding.takes(on) else None
                init = configs.arguments(parts, sizes) if parts is not None else None
                if init is None:
                    continue
                binding = replace(binding, init=init)
            elif stateful and not (binding.takes(on) or binding.takes("cache_k")):
                continue
            ranked.append((score + unsure - own, len(ranked), binding))
    return [binding for _score_, _index, binding in sorted(ranked, key=lambda r: r[:2])]


def _called(
    params: Sequence[Mapping[str, Any]], role: Role, configs: Configs, *, sized: bool
) -> Iterator[tuple[tuple[Argument, ...], float]]:
    """How a signature is called, and how unsure that is; keys and values may go in as one argument."""
    if (args := configs.arguments(params, role, sized=sized)) is not None:
        yield args, 0.0
        return
    others = tuple(param for param in role.params if param.name not in (K.name, V.name))
    if len(others) != len(role.params) - 2:
        return
    args = configs.arguments(params, replace(role, params=(_PAIR, *others)), sized=sized) or ()
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
    if any(re.search(pattern, words) for pattern in role.avoid):
        return None
    for index, pattern in enumerate(role.patterns):
        if re.search(pattern, words) or re.search(pattern, own.lower()):
            return float(index)
    return None


@dataclass(frozen=True, slots=True)
class Configs:
    """Classes and dicts that hold sizes, for callables that are told of sizes by one object.

    Attributes:
        classes: File, name and constructor parameters of each.
        keys: File and a name → what the source reads from a dict of that name, and which size that is.
    """

    classes: tuple[tuple[str, str, Sequence[Mapping[str, Any]]], ...] = ()
    keys: Callable[[str, Role], tuple[tuple[str, str], ...]] = lambda name, role: ()

    @classmethod
    def of(cls, loaded: Inventories, submission: Submission) -> Configs:
        """Classes that are called after it, and the keys of dicts that are."""
        made = constructors(loaded)

        def keys(name: str, role: Role) -> tuple[tuple[str, str], ...]:
            found = (pair for file in loaded for pair in pack(submission, file, name, (), role))
            return tuple(dict.fromkeys(found))

        classes = tuple((file, n, params) for (file, n), params in made.items() if _CONFIG.search(n))
        return cls(classes, keys)

    def arguments(
        self, params: Sequence[Mapping[str, Any]], role: Role, *, sized: bool = False
    ) -> tuple[Argument, ...] | None:
        """How a signature is called, with the objects of sizes that it wants; ``None`` when it cannot be.

        Args:
            params: The signature.
            role: What is to be played.
            sized: Whether they are made as well where none is the default.
        """
        asked = [p for p in _named(params) if "default" not in p or (sized and p["default"] is None)]
        objects = ((str(p["name"]), self.argument(p, role)) for p in asked)
        called = arguments(params, role, packed={name: made for name, made in objects if made is not None})
        return None if called is None else called[0]

    def argument(self, param: Mapping[str, Any], role: Role) -> Argument | None:
        """The object that a parameter wants, made of what a role takes; ``None`` when it wants none.

        What has a default and is no size of the role keeps it.
        """
        note = re.findall(r"\w+", str(param.get("annotation", "")))
        if not _CONFIG.search(param["name"]) and not any(n in note for _file, n, _params in self.classes):
            return None
        # a call may be told by an object what its own role does not take: the sizes of the cache
        takes = (*role.params, *SIZES)
        for file, name, params in sorted(self.classes, key=lambda one: one[1] not in note):
            known = [(p, next((r for r in takes if r.means(p["name"])), None)) for p in _named(params)]
            if all(r is not None or "default" in p for p, r in known):
                parts = tuple(
                    (p["name"], form + r.name)
                    for p, r in known
                    # how many bits a code has is told to what keeps codes alone
                    if r and not (r.name == BITS.name and r.spare and "default" in p)
                    if (form := _form(p, r.kind)) is not None
                )
                return Argument("", parts=parts, made=f"{file}:{name}") if parts else None
        if self.classes or not packs(param["name"], role):
            return None
        sizes = tuple(size for size in takes if size.kind == "int" and not size.spare)
        parts = self.keys(param["name"], replace(role, params=sizes))
        return Argument("", parts=parts) if parts else None


def as_told(binding: Binding, *makers: Binding) -> Binding:
    """The same call, with the object of sizes that something was made from, where it takes one as well."""
    told = {argument.made: argument for maker in makers for argument in maker.args if argument.made}
    args = tuple(
        replace(told[a.made], keyword=a.keyword) if a.made and a.made in told else a for a in binding.args
    )
    return replace(binding, args=args)


def _named(params: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Parameters that are called by a name of their own."""
    return [p for p in params if p["kind"] not in ("VAR_POSITIONAL", "VAR_KEYWORD")]


def _form(param: Mapping[str, Any], kind: str) -> str | None:
    """How a member of a config is told; ``None`` where it is not.

    Sizes are, and a dtype where its default is the name of one, or a type.
    """
    default = param.get("default")
    if kind == "int":
        return ""
    if kind != "dtype" or not isinstance(default, str):
        return None
    return "" if _DTYPE.match(default) else "type:" if _TYPE.match(default) else None
