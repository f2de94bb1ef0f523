"""Stand-ins: objects and classes on one side of a border for those on the other.

A class on the other side has a class here, of its name, below the classes here of its bases, and with the
special methods that it has: ``isinstance``, ``except``, ``callable`` and ``len`` say what they do there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .side import Side

__all__ = ["Bound", "Home", "Meta", "StandIn", "home_of", "special"]

#: pytest leaves these frames out.
__tracebackhide__ = True
#: Attributes that are looked for on any object to know what it is; none of them is over there.
_LOCAL = frozenset(
    {
        *(
            "_pytestfixturefunction",
            "__test__",
            "pytestmark",
            "__wrapped__",
            "__pytest_wrapped__",
            "__judge__",
        ),
        *("__array__", "__array_interface__", "__array_struct__", "__array_ufunc__", "__array_function__"),
        *("__mro_entries__", "__set_name__", "__class_getitem__", "__numpy_ufunc__", "__array_priority__"),
        *("pytest_plugins", "__wrapped", "_hypothesis_internal_add_digest", "is_hypothesis_test"),
        *("__dataclass_fields__", "__attrs_attrs__"),
        *("__module__", "__path__", "__spec__", "__loader__", "__file__"),
    }
)
_HOME = "__judge__"


def named(arguments: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Arguments by name as what is asked with them: nothing, where there are none."""
    return (arguments,) if arguments else ()


class Home:
    """Where an object is at home; told there once nobody here has it any more.

    Attributes:
        peer: The conversation.
        epoch: Which process over there.
        number: The object's number in it.
        path: Module and name that it was imported by, by which it is found in the next process.
        times: How often it was told.
    """

    __slots__ = ("epoch", "number", "path", "peer", "times")

    def __init__(self, peer: Side, epoch: int, number: int) -> None:
        self.peer, self.epoch, self.number = peer, epoch, number
        self.path: tuple[str, str] | None = None
        self.times = 1

    def __del__(self) -> None:
        if self.epoch == self.peer.epoch:
            self.peer.dropped.append((self.number, self.times))


class Meta(type):
    """The class of classes that stand for others.

    Attributes:
        __judge_peer__: The conversation.
        __judge_key__: Module and name of the class over there.
        __judge_fields__: Of one whose objects cross by value, what tells their classes here.
    """

    # No plain names: what the class over there calls so is looked for over there.
    __judge_peer__: Side
    __judge_key__: str
    __judge_fields__: Any

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **extra: Any) -> Meta:
        """A class statement with a stand-in below: refused."""
        peer = next(base.__judge_peer__ for base in bases if isinstance(base, Meta))
        named = next(base.__name__ for base in bases if isinstance(base, Meta))
        raise peer.unfit(
            f"class {name} is derived from the submission's {named}, which cannot cross into a test"
        )

    @classmethod
    def made(
        cls, peer: Side, key: str, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> Meta:
        """A class that stands for one over there."""
        own = {"__judge_peer__": peer, "__judge_key__": key, "__judge_fields__": None}
        return type.__new__(cls, name, bases, own | namespace)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the class over there."""
        return cls.__judge_peer__.ask("call", cls, args, *named(kwargs))

    def __getattr__(cls, name: str) -> Any:
        if name in _LOCAL or name.startswith("_pytest"):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        if name == "__signature__":
            return _signature(cls.__judge_peer__, cls)
        return cls.__judge_peer__.ask("get", cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        cls.__judge_peer__.ask("set", cls, name, value)

    def __delattr__(cls, name: str) -> None:
        cls.__judge_peer__.ask("del", cls, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        kind = type(instance)
        return cls in kind.__mro__ or (
            cls.__judge_fields__ is not None and cls.__judge_peer__.made_of(kind) == cls.__judge_fields__
        )

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.__judge_peer__.ask("special", cls, "__iter__", ()))

    def __len__(cls) -> int:
        length: int = cls.__judge_peer__.ask("special", cls, "__len__", ())
        return length

    def __bool__(cls) -> bool:
        return True

    def __contains__(cls, item: Any) -> bool:
        return bool(cls.__judge_peer__.ask("special", cls, "__contains__", (item,)))

    def __getitem__(cls, item: Any) -> Any:
        return cls.__judge_peer__.ask("special", cls, "__getitem__", (item,))

    def __or__(cls, other: Any) -> Any:
        return type.__or__(cls, other)

    def __dir__(cls) -> list[str]:
        return list(cls.__judge_peer__.ask("dir", cls))

    def __repr__(cls) -> str:
        return f"<class '{cls.__judge_key__.replace(':', '.')}'>"


class StandIn:
    """What all stand-ins but exceptions are below."""

    __slots__ = (_HOME, "__weakref__")

    def __getattr__(self, name: str) -> Any:
        if name in _LOCAL or name.startswith("_pytest"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if name == "__signature__":
            return _signature(home_of(self).peer, self)
        return home_of(self).peer.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        home_of(self).peer.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        home_of(self).peer.ask("del", self, name)

    def __dir__(self) -> list[str]:
        return list(home_of(self).peer.ask("dir", self))

    def __copy__(self) -> Any:
        return home_of(self).peer.ask("copy", self)

    def __deepcopy__(self, memo: Any) -> Any:
        return home_of(self).peer.ask("deepcopy", self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def __repr__(self) -> str:
        path = home_of(self).path
        return f"<{type(self).__name__}{f' {path[1]}' if path else ''} of the submission>"

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError(f"unsupported format string passed to {type(self).__name__}.__format__")
        return str(self)


def _signature(peer: Side, value: Any) -> Any:
    """What a callable over there takes, as far as names and kinds say."""
    try:
        told = peer.ask("signature", value)
    except (TypeError, ValueError) as error:
        raise AttributeError("__signature__") from error
    default = inspect.Parameter.empty
    kinds = {
        int(kind): kind
        for kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.KEYWORD_ONLY,
            inspect.Parameter.VAR_KEYWORD,
        )
    }
    return inspect.Signature(
        [inspect.Parameter(name, kinds[kind], default=... if has else default) for name, kind, has in told]
    )


_set_home = vars(StandIn)[_HOME].__set__
_get_home = vars(StandIn)[_HOME].__get__


def put_home(value: Any, home: Home) -> None:
    """Say where an object is at home."""
    if isinstance(value, BaseException):
        vars(value)[_HOME] = home
    else:
        _set_home(value, home)


def home_of(value: Any) -> Home:
    """Where a stand-in, or an exception that crossed, is at home.

    Raises:
        AttributeError: It is here.
    """
    if isinstance(value, BaseException):
        home = vars(value).get(_HOME)
        if not isinstance(home, Home):
            raise AttributeError(_HOME)
        return home
    home = _get_home(value)
    assert isinstance(home, Home)
    return home


class Bound:
    """A method of an object over there; nothing is asked before it is called."""

    __slots__ = ("__name__", "_of")

    def __init__(self, of: Any, name: str) -> None:
        self._of, self.__name__ = of, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it over there."""
        return home_of(self._of).peer.ask("method", self._of, self.__name__, args, *named(kwargs))

    @property
    def __self__(self) -> Any:
        return self._of

    def __getattr__(self, name: str) -> Any:
        if name in _LOCAL or name.startswith("_pytest"):
            raise AttributeError(f"'method' object has no attribute '{name}'")
        peer = home_of(self._of).peer
        return peer.ask("get", peer.ask("get", self._of, self.__name__), name)

    def __eq__(self, other: object) -> bool:
        return type(other) is Bound and self._of is other._of and self.__name__ == other.__name__

    def __hash__(self) -> int:
        return hash((id(self._of), self.__name__))

    def __repr__(self) -> str:
        return f"<method {type(self._of).__name__}.{self.__name__} of the submission>"


class Method:
    """Of a class that stands for another: a method of its objects."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Meta) -> Any:
        if instance is None:
            return owner.__judge_peer__.ask("get", owner, self._name)
        return Bound(instance, self._name)


def special(name: str) -> Callable[..., Any]:
    """A special method that is carried out over there."""

    def method(self: Any, *args: Any) -> Any:
        return home_of(self).peer.special(self, name, args)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return home_of(self).peer.ask("call", self, args, *named(kwargs))

    def leave(self: Any, kind: Any, error: Any, trace: Any) -> Any:
        return home_of(self).peer.ask("exit", self, error)

    made: Callable[..., Any] = {"__call__": call, "__exit__": leave}.get(name, method)
    made.__name__ = name
    return made
