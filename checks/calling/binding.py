"""Bindings: which callable of a submission plays which role, and how it is called.

A binding is written by hand in ``submission.toml``, or found by
:mod:`judge_tui.checks.binding.binder`::

    [binding.forward]
    target = "layer_norm.py:LayerNorm.forward"
    init = ["D", "eps=eps"]                 # constructor arguments; only for methods
    attributes = { gamma = "gamma" }        # set on the instance before the call
    warm = true                             # an instance is called once before its attributes are set, since
                                            # it makes them in its first call
    in_place = true                         # attributes are filled with what is set, and stay the same arrays
    args = ["x", "epsilon=eps", "lists:x"]  # canonical names in call order; keyword=name; form:name; =literal
    returns = { y = "[0]", cache = "self" } # or ["y", "cache"]; a path: [0], .attr, ['key']; "" is the result
    on = "cache"                            # the method is called on this object, not on a new instance
    layout = "BNHD"                         # order of the axes that the contract calls B, H, N, D; see
                                            # checks/calling/layouts.py
    model = "all"                           # its model gives "last" or "all" positions, as "list", "probs", …
    patch = { "model.py:LM.forward" = "model" }  # replaced during the call; model.class makes one
    launch = { grid = "rows", block = "256" }    # of a CUDA kernel; see checks/tasks/fuse/launcher.py

An argument in braces is a dict (its keys are attributes too) of others: ``params={gamma, w=gamma}``;
with a class before them, an object that is made of them: ``config=model.py:Config{d_model=embed}``; with
``tuple`` before them, a tuple; with ``stack``, one array of them along a new axis: ``kv=stack{k, v}``.
Each may have its form: ``config=model.py:Config{dtype=type:dtype}``.
Forms of an argument: ``lists:x`` hands an array over as nested lists, ``type:dtype`` a NumPy
type. ``dict:cache`` and ``list:cache`` hand over a new, empty container (of the dict, the
keys are attributes too) that the call fills, and ``returns = { cache = "given.cache" }``
says that it is what the role gives.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from judge_tui.checks.errors import WorkspaceError

__all__ = ["Argument", "Binding", "Source", "parse_binding", "parse_path"]

Steps = tuple[tuple[str, Any], ...]

_STEP = re.compile(r"\[(-?\d+)\]|\[(['\"])(.*?)\2\]|\.([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}")
_PACKED = re.compile(r"^([^\s{}=:]+:[A-Za-z_][\w.]*|tuple|stack)?\{(.*)\}$", re.S)
_LITERAL = re.compile(r"^=(.*)$", re.S)
#: Forms that hand over a new, empty container for the call to fill.
_CLASS = re.compile(r"^[^\s{}=:]+:[A-Za-z_][\w.]*$")
_EMPTY = frozenset({"dict", "list"})
_FORMS = frozenset({"", "lists", "type"}) | _EMPTY


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call.

    Attributes:
        source: Canonical parameter; empty for a literal.
        keyword: Passed by this name; empty for a positional one.
        form: ``"lists"`` hands an array over as nested lists; ``"dict"`` and ``"list"`` an empty container,
            ``"file.py:Class"`` a new object of the submission's own that the call fills.
        literal: The value when ``source`` is empty.
        parts: Key → canonical parameter, behind its form if it has one (``type:dtype``), for a dict of
            several; ``source`` is empty then.
        made: ``file.py:Class`` of the submission that is made of the parts, by keyword; ``tuple``; ``stack``
            for one array of them, along a new first axis; a dict when empty.
    """

    source: str
    keyword: str = ""
    form: str = ""
    literal: Any = None
    parts: tuple[tuple[str, str], ...] = ()
    made: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The canonical parameters that it is made of; none for what the call only fills."""
        if self.parts:
            return tuple(dict.fromkeys(source.rpartition(":")[2] for _key, source in self.parts))
        return (self.source,) if self.source and not self.empty else ()

    @property
    def empty(self) -> bool:
        """Whether it is a container that the call fills."""
        return self.form in _EMPTY or bool(_CLASS.match(self.form))

    def handed(self, sources: Mapping[str, str]) -> Argument:
        """The same, made of something else: canonical parameter → what goes in its place."""
        told = ((key, *source.rpartition(":")) for key, source in self.parts)
        parts = tuple((key, f"{form}{colon}{sources.get(name, name)}") for key, form, colon, name in told)
        return replace(self, source=sources.get(self.source, self.source), parts=parts)

    def __str__(self) -> str:
        if self.parts:
            packed = ", ".join(k if k == source else f"{k}={source}" for k, source in self.parts)
            value = f"{self.made}{{{packed}}}"
        elif not self.source:
            value = f"={_toml(self.literal)}"
        else:
            value = f"{self.form}:{self.source}" if self.form else self.source
        return f"{self.keyword}={value}" if self.keyword else value


@dataclass(frozen=True, slots=True)
class Source:
    """Where a returned thing is: in the result, on the instance, or in a container that was filled.

    Attributes:
        of: ``"result"``, ``"self"``, or ``"given"``: then the first step names the argument.
        steps: The path from there.
    """

    of: str = "result"
    steps: Steps = ()


@dataclass(frozen=True, slots=True)
class Binding:
    """How a role is played.

    Attributes:
        role: The role.
        file: File of the callable.
        name: Its qualified name.
        args: Arguments in call order.
        returns: Canonical returned name → where it is.
        on: Canonical handle whose method is called.
        init: Constructor arguments; ``None`` for a plain function.
        attributes: Path on the instance (``gamma``, ``params['gamma']``, ``gamma.data``) → canonical
            parameter.
        warm: Whether an instance is called once before its attributes are set: it makes them then.
        in_place: Whether the arrays that its attributes are get new numbers, for what keeps views of them.
        layout: Axes as the callable wants them (see :mod:`.layouts`); empty for the contract's own.
        loose: Returned arrays whose axes of length one do not matter, and which may be flat.
        misshapen: Names alone say what its answers are: they have other shapes than the contract's.
        model: Style of a scripted model (``worker/models.py``): what the callable's own model would give.
        patch: ``file.py:name`` in the submission → canonical parameter that stands there during a call;
            ``model.class`` for a class that makes it, ``model.forward`` for one of its methods.
        launch: How a CUDA kernel or its launcher is launched; the task that knows CUDA reads it.
        origin: ``"submission.toml"``, ``"adapter.py"`` or ``"found"``.
        why: What the binder saw.
        line: 1-based line of the callable.
    """

    role: str
    file: str
    name: str
    args: tuple[Argument, ...]
    returns: Mapping[str, Source]
    on: str = ""
    init: tuple[Argument, ...] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    warm: bool = False
    in_place: bool = False
    layout: str = ""
    loose: frozenset[str] = frozenset()
    misshapen: bool = False
    model: str = ""
    patch: Mapping[str, str] = field(default_factory=dict)
    launch: Mapping[str, Any] = field(default_factory=dict)
    origin: str = "found"
    why: str = ""
    line: int = 0
    # what it can be told: asked for at every call
    _told: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        handed = (name for a in (*self.args, *(self.init or ())) for name in (a.source, *a.sources))
        patched = (source.partition(".")[0] for source in self.patch.values())
        object.__setattr__(self, "_told", frozenset((*handed, *self.attributes.values(), *patched)))

    @property
    def target(self) -> str:
        """``file.py:name``."""
        return f"{self.file}:{self.name}"

    def takes(self, param: str) -> bool:
        """Whether the callable can be told ``param``."""
        return param in self._told

    def handed(self, **sources: str) -> Binding:
        """The same call, handed something else: canonical parameter → what goes in its place."""
        told = tuple(argument.handed(sources) for argument in self.args)
        made = None if self.init is None else tuple(argument.handed(sources) for argument in self.init)
        return replace(self, args=told, init=made)


def parse_path(text: str) -> Source:
    """Read ``[0].cache['k']``, ``self.x``, ``given.ctx`` or ``""``.

    Raises:
        ValueError: It is not a path.
    """
    of = "result"
    rest = text.strip()
    if rest == "self" or rest.startswith(("self.", "self[", "self{")):
        of, rest = "self", rest[4:]
    elif rest.startswith("given."):
        of, rest = "given", rest[5:]
    steps: list[tuple[str, Any]] = []
    while rest:
        match = _STEP.match(rest)
        if match is None:
            raise ValueError(f"'{text}' is not a path: write [0], ['key'], .name or self.name")
        index, _quote, key, name, cell = match.groups()
        if index is not None:
            steps.append(("i", int(index)))
        elif name is not None:
            steps.append(("a", name))
        elif cell is not None:
            steps.append(("c", cell))
        else:
            steps.append(("k", key))
        rest = rest[match.end() :]
    return Source(of, tuple(steps))


def _toml(value: Any) -> str:
    """A literal as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        plain = value.isprintable() and "'" not in value
        return f"'{value}'" if plain else json.dumps(value)
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else repr(value)


def _argument(text: str) -> Argument:
    keyword, value = "", text.strip()
    match = re.match(r"^([A-Za-z_]\w*)=(.*)$", value, re.S)
    if match:
        keyword, value = match.groups()
    if packed := _PACKED.match(value):
        items = [item.partition("=") for item in packed[2].split(",")]
        parts = tuple((key.strip(), (source or key).strip()) for key, _equals, source in items)
        told = [(key, *source.rpartition(":")[::2]) for key, source in parts]
        if not all(
            k.isidentifier() and name.isidentifier() and form in _FORMS - _EMPTY for k, form, name in told
        ):
            raise ValueError(f"'{text}' is no argument: write {{name, key=name}}")
        return Argument("", keyword, parts=parts, made=packed[1] or "")
    if literal := _LITERAL.match(value):
        try:
            return Argument("", keyword, literal=tomllib.loads(f"v = {literal[1]}")["v"])
        except (ValueError, RecursionError) as error:
            raise ValueError(f"'{text}' is no argument: '{literal[1]}' is no TOML value") from error
    form, _, source = value.rpartition(":")
    if not (form in _FORMS or _CLASS.match(form)) or not source.isidentifier():
        raise ValueError(f"'{text}' is no argument: write name, keyword=name, lists:name or keyword==literal")
    return Argument(source, keyword, form)


def _list(table: Mapping[str, Any], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"'{key}' must be a list of texts")
    return value


def _flag(table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ValueError(f"'{key}' must be true or false")
    return value


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"'{key}' must be a text")
    return value


def _table(table: Mapping[str, Any], key: str) -> dict[str, str]:
    value = table.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError(f"'{key}' must be a table of texts")
    return dict(value)


def _settings(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise ValueError(f"'{key}' must be a table")
    return dict(value)


def parse_binding(role: str, table: Mapping[str, Any], *, file: str = "submission.toml") -> Binding:
    """Read one ``[binding.<role>]`` table.

    Args:
        role: Its name.
        table: Its content.
        file: Where it stands, for the message.

    Raises:
        WorkspaceError: A key is unknown or a value malformed.
    """
    known = {
        "target", "args", "returns", "on", "init", "attributes", "warm", "in_place", "layout", "model",
        "patch", "launch",
    }  # fmt: skip
    try:
        if unknown := set(table) - known:
            raise ValueError(f"unknown key '{sorted(unknown)[0]}' (known: {', '.join(sorted(known))})")
        module, colon, name = _text(table, "target").partition(":")
        if not (module and colon and name):
            raise ValueError("'target' must be 'file.py:name'")
        if isinstance(table.get("returns"), list):
            listed = _list(table, "returns")
            paths = {
                key: Source("result", (("i", index),) if len(listed) > 1 else ())
                for index, key in enumerate(listed)
            }
        else:
            paths = {key: parse_path(path) for key, path in _table(table, "returns").items()}
        init = tuple(_argument(a) for a in _list(table, "init")) if "init" in table else None
        return Binding(
            role,
            module,
            name,
            tuple(_argument(a) for a in _list(table, "args")),
            paths,
            _text(table, "on"),
            init,
            _table(table, "attributes"),
            _flag(table, "warm"),
            _flag(table, "in_place"),
            _text(table, "layout"),
            model=_text(table, "model"),
            patch=_table(table, "patch"),
            launch=_settings(table, "launch"),
            origin="submission.toml",
        )
    except (ValueError, TypeError) as error:
        raise WorkspaceError(f"[binding.{role}]: {error}", file=file) from error
