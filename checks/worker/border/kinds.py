"""Classes over a border: told by what they can do, and made here anew."""

from __future__ import annotations

import enum
import functools
import sys
import threading
import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from .below import below, shaped
from .specials import ASYNCHRONOUS, SPECIALS
from .standins import Meta, Method, StandIn, special
from .wellknown import name_of, named, nature

if TYPE_CHECKING:
    from .side import Side

__all__ = ["ENDING", "Kinds", "fields_of", "has_more", "key_of", "told", "unusable"]

__tracebackhide__ = True
#: What a process ends by, and no test may be told of.
ENDING = (SystemExit, KeyboardInterrupt, GeneratorExit)
_FUNCTIONS = (types.FunctionType, types.MethodDescriptorType, staticmethod, classmethod)
#: What somebody gives a class beside data.
_MADE_OF = (
    *(types.FunctionType, property, staticmethod, classmethod, types.MethodDescriptorType),
    *(types.WrapperDescriptorType, types.BuiltinFunctionType, functools.partial, functools.partialmethod),
    *(functools.cached_property, types.MemberDescriptorType),
)
_MOST_NAMES = 2_000
_WAITING = frozenset({"builtins:coroutine", "builtins:async_generator"})
_GENERATED = "<string>"


def key_of(kind: type) -> str:
    """Module and qualified name."""
    return f"{kind.__module__}:{kind.__qualname__}"[:500]


def fields_of(kind: type) -> tuple[str, str, tuple[str, ...]] | None:
    """What tells the classes of records that cross by value apart; ``None`` where objects do not."""
    if issubclass(kind, tuple) and isinstance(fields := getattr(kind, "_fields", None), tuple):
        return "nt", kind.__name__, tuple(map(str, fields))
    if is_dataclass(kind) and is_plain(kind):
        return "dc", kind.__name__, tuple(kind.__dataclass_fields__)
    return None


def is_plain(kind: Any) -> bool:
    """Whether a dataclass is data alone: one that cannot change, or that has no code of its own."""
    if kind.__eq__ is object.__eq__:
        return False
    own = (vars(klass) for klass in kind.__mro__ if klass is not object)
    if kind.__dataclass_params__.frozen:
        return not any(name in SPECIALS and _written(value) for space in own for name, value in space.items())
    written = (name for space in own for name, value in space.items() if _written(value))
    return all(name == "__post_init__" for name in written)


def _written(value: Any) -> bool:
    """Whether somebody wrote it, and no decorator made it."""
    if isinstance(value, (staticmethod, classmethod, property)):
        return True
    code = getattr(getattr(value, "__wrapped__", value), "__code__", None)
    return code is not None and code.co_filename != _GENERATED


def told(kind: type, name: str, *, whole: bool) -> dict[str, Any]:
    """What the other side is told of a class.

    Args:
        kind: The class.
        name: Its key.
        whole: Whether objects of it stay where they are, below whatever it is.
    """
    error = issubclass(kind, BaseException)
    passed = {klass for klass in kind.__mro__ if error and klass.__module__ == "builtins"} | {object}
    spaces = [vars(klass) for klass in kind.__mro__ if klass not in passed or klass is kind]
    defined: dict[str, Any] = {}
    for space in spaces:
        for each, value in space.items():
            defined.setdefault(each, value)
    kept = {"__repr__"} if kind.__module__ == "builtins" else set()
    methods = [each for each, value in defined.items() if isinstance(value, _FUNCTIONS) and each[:2] != "__"]
    return {
        "key": name,
        "name": kind.__name__[:200],
        "special": sorted(defined.keys() & ({"__eq__"} if error else SPECIALS) - kept),
        "waits": sorted(defined.keys() & ASYNCHRONOUS),
        "fixed": defined.get("__hash__", 0) is None,
        "methods": methods[:_MOST_NAMES],
        "error": error,
        "fields": fields_of(kind),
        "below": below(kind) if whole and not error else None,
    }


@functools.lru_cache(maxsize=512)
def has_more(kind: type) -> bool:
    """Whether a class below a listed one is more than that: somebody gave it methods with plain names."""
    own = (vars(klass) for klass in kind.__mro__ if klass.__module__ not in sys.stdlib_module_names)
    plain = (value for space in own for name, value in space.items() if not name.startswith("_"))
    return any(isinstance(value, _MADE_OF) for value in plain)


def unusable(kind: type) -> bool:
    """Whether objects of a class cross as their class's base, although more is known of them."""
    return issubclass(kind, enum.Enum) and not issubclass(kind, (int, float, str, bytes))


class Kinds:
    """The classes here that stand for those over there."""

    def __init__(self, peer: Side) -> None:
        self._peer = peer
        self._by_key: dict[str, Meta] = {}
        self._here: dict[int, Meta] = {}
        self._numbers: dict[Meta, int] = {}
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Another process over there: classes stay what they are, and have other numbers."""
        self._here.clear()
        self._numbers.clear()

    def number(self, kind: Meta) -> int:
        """The number that a class has over there."""
        if kind not in self._numbers:
            self._peer.ask("find", kind.__judge_key__)
        if (number := self._numbers.get(kind)) is None:
            raise self._peer.unfit(f"the class {kind.__name__} is not there in this test's process any more")
        return number

    def of(self, number: int, told: Mapping[str, Any] | None) -> Meta:
        """The class here for a number over there.

        Args:
            number: The number.
            told: What is known of it, where that came along.
        """
        if (known := self._here.get(number)) is not None:
            return known
        if told is None:
            told = self._peer.ask("class", number)
        made = self._made(told)
        with self._lock:
            # another thread may have met it meanwhile
            if (known := self._here.get(number)) is not None:
                return known
            kind = self._by_key.setdefault(told["key"], made)
            kind = made if kind in self._numbers else kind
            self._here[number] = kind
            self._numbers[kind] = number
        return kind

    def _made(self, told: Mapping[str, Any]) -> Meta:
        bases = tuple(self._base(base) for base in told["bases"])
        error = bool(told["error"])
        names = [name for name in told["special"] if name in SPECIALS]
        space: dict[str, Any] = {name: special(name) for name in names}
        space |= {name: Method(name) for name in map(str, told["methods"]) if name[:2] != "__"}
        space |= {name: self._refusing(str(told["name"])) for name in told["waits"] if name in ASYNCHRONOUS}
        space["__module__"] = str(told["key"]).partition(":")[0]
        if told["fixed"]:
            space["__hash__"] = None
        if error:
            space |= {"__str__": _text, "__getattr__": StandIn.__getattr__}
        else:
            space["__slots__"] = ()
        if told["key"] in _WAITING:
            space |= dict.fromkeys(("send", "throw", "asend"), self._refusing(str(told["name"])))
        if (kind := nature(told["key"])) is not None:
            space["__class__"] = property(lambda self: kind)
            if kind is types.FunctionType:
                space["__get__"] = _bound
        space |= shaped(str(told["name"]), told["below"])
        if told["fields"]:
            family, name, fields = told["fields"]
            space["__judge_fields__"] = (family, name, tuple(fields))
        own = [base for base in bases if issubclass(base, BaseException) == error]
        fallback: tuple[type, ...] = (Exception,) if error else (StandIn,)
        for candidate in (tuple(own) or fallback, fallback):
            try:
                return Meta.made(self._peer, str(told["key"]), str(told["name"]), candidate, space)
            except TypeError:
                # no order of bases, or no layout, that all of them allow
                continue
        raise self._peer.forged("a class that cannot be")

    def _base(self, base: Any) -> type:
        """A base: a class that both sides know, or one that stands for another."""
        if base[0] == "n":
            found = named(base[1])
            known = isinstance(found, type) and issubclass(found, BaseException)
            return StandIn if not known else BaseException if issubclass(found, ENDING) else found
        return self.of(base[1], base[2])

    def _refusing(self, name: str) -> Any:
        def waits(*args: Any) -> Any:
            raise self._peer.unfit(
                f"it awaits what the submission gives (a {name}), which cannot cross into a test"
            )

        return waits


def _bound(self: Any, instance: Any, owner: Any = None) -> Any:
    """A function that is put into a class is a method of its objects."""
    return self if instance is None else types.MethodType(self, instance)


def _text(self: Any) -> str:
    return str(vars(self).get("__judge_text__", ""))


def base_names(kind: type) -> list[Any]:
    """Bases of a class: those that both sides know by name, of the others the class itself."""
    return [name_of(base) or base for base in kind.__bases__ if base is not object]
