"""How a submission is launched: a host function, or a kernel with its grid rule, as a binding says it.

In ``submission.toml``::

    [binding.fuse]
    target = "topk.cuh:fused::topk_kernel"              # a host launcher, or a kernel
    args = ["logits", "indices", "probabilities", "rows", "V"]
    launch = { template = ["K", "4"], K = [10, 64], grid = "(rows + 3) / 4", block = "dim3(32, 4)" }

``args`` holds, per parameter in order (the members of a struct in its place), one of :data:`VALUES` or a
value behind ``=``: ``"=1.0"``, or a C++ expression as ``"='1.0f'"``.
Keys of ``launch``, all optional: ``template`` (template arguments: ``K``, ``float``, numbers), ``K`` (the
values that are instantiated), ``grid``, ``block``, ``shared`` (C++ over rows, B, T, V, K; for kernels),
``index`` (``int32`` or ``int64``), ``stride`` (entries from one row of the output to the next: ``K``, a
number, ``ceil 4`` for K rounded up to four, or a list of numbers of which the first that holds K counts),
``returns``. A launcher that takes ``scratch`` is called twice, as those of CUB are: with none, to be told by
``scratch_bytes`` how much it wants, and with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_tui.checks.calling.binding import Argument, Binding, Source
from judge_tui.checks.cuda.definitions import Struct
from judge_tui.checks.errors import WorkspaceError

__all__ = ["VALUES", "Launcher", "Variant", "launcher_of", "stride_of"]

#: What a parameter can be given.
VALUES = (
    "logits", "indices", "probabilities", "rows", "B", "T", "V", "K", "stream", "stride", "per_row",
    "scratch", "scratch_bytes",
)  # fmt: skip
_KEYS = frozenset({"template", "K", "grid", "block", "shared", "index", "stride", "returns", "variants"})
_RETURNS = frozenset({"status", "bool", "number", "count", "nothing"})
_STRIDE = re.compile(r"^(?:K|\d+|ceil \d+|\d+(?:, ?\d+)+)$")


@dataclass(frozen=True, slots=True)
class Variant:
    """A value of a template parameter apart from K, written ``WARPS_PER_BLOCK = 1``.

    Attributes:
        name: The parameter's.
        value: C++ expression.
        usual: Whether it is the one that it has where none is told.
    """

    name: str
    value: str
    usual: bool

    def __str__(self) -> str:
        return f"{self.name} = {self.value}" + (", as its default" if self.usual else "")


@dataclass(frozen=True, slots=True)
class Launcher:
    """A way to launch.

    Attributes:
        file: That is included.
        name: Function or kernel, with its namespaces.
        args: Per parameter, one of :data:`VALUES` or ``=expression``.
        types: Per parameter, its C++ type; empty where it is not known.
        template: Template arguments; ``K`` stands for the number asked for.
        instances: Numbers K that a template is instantiated for; empty for a run-time K.
        kernel: Whether it is a kernel, launched with ``grid``, ``block`` and ``shared``.
        grid: C++ expression.
        block: C++ expression.
        shared: C++ expression, bytes.
        index: ``int32`` or ``int64``.
        stride: Entries between rows of the output.
        returns: ``status``, ``bool`` (true is success), ``number`` (0 is), ``count`` (above 0 is) or
            ``nothing``.
        line: 1-based line of its definition.
        variant: What tells it from others of the same function; ``None`` of the one that is bound.
        origin: As a binding's.
        why: What showed it.
        doubts: What was guessed and not read, as clauses.
        host: Of a kernel that is launched by itself: the submission's function that launches it and may
            refuse what the kernel does not serve.
        structs: Parameters that are structs; ``args`` and ``types`` have their members in their places.
    """

    file: str
    name: str
    args: tuple[str, ...]
    types: tuple[str, ...] = ()
    template: tuple[str, ...] = ()
    instances: tuple[int, ...] = ()
    kernel: bool = False
    grid: str = ""
    block: str = ""
    shared: str = "0"
    index: str = "int32"
    stride: str = "K"
    returns: str = "status"
    line: int = 0
    variant: Variant | None = None
    origin: str = "found"
    why: str = ""
    doubts: tuple[str, ...] = field(default=(), compare=False)
    host: str = field(default="", compare=False)
    structs: tuple[Struct, ...] = ()

    @property
    def target(self) -> str:
        """``file:name``."""
        return f"{self.file}:{self.name}"

    @property
    def called(self) -> str:
        """The call as C++ would write it, with the contract's names."""
        template = f"<{', '.join(self.template)}>" if self.template else ""
        launch = f"<<<{self.grid}, {self.block}, {self.shared}>>>" if self.kernel else ""
        args = self.folded([arg.removeprefix("=") for arg in self.args], lambda _at, held: f"{{{held}}}")
        return f"{self.name}{template}{launch}({', '.join(args)})"

    def folded(self, values: Sequence[str], whole: Callable[[int, str], str]) -> list[str]:
        """Values per parameter of the function itself, structs in one piece.

        Args:
            values: As many as ``args``.
            whole: Makes a piece of a struct's number and its members' values, joined by commas.
        """
        result, at = [], 0
        for number, struct in enumerate(self.structs):
            end = struct.start + struct.count
            result += [*values[at : struct.start], whole(number, ", ".join(values[struct.start : end]))]
            at = end
        return [*result, *values[at:]]

    def binding(self) -> Binding:
        """The same as a binding."""
        launch: dict[str, Any] = {}
        if self.template:
            launch["template"] = list(self.template)
        if self.instances:
            launch["K"] = list(self.instances)
        if self.kernel:
            launch |= {"grid": self.grid, "block": self.block, "shared": self.shared}
        launch |= {"index": self.index, "stride": self.stride, "returns": self.returns}
        args = tuple(Argument("", literal=a[1:]) if a.startswith("=") else Argument(a) for a in self.args)
        returns = {name: Source("given", (("a", name),)) for name in ("indices", "probabilities")}
        return Binding(
            "fuse", self.file, self.name, args, returns, launch=launch, origin=self.origin, why=self.why,
            line=self.line,
        )  # fmt: skip


def launcher_of(binding: Binding, *, kernel: bool, line: int, types: Sequence[str]) -> Launcher:
    """Read a binding that a person wrote.

    Args:
        binding: Its target is one of the submission's functions.
        kernel: Whether that is a kernel.
        line: Where it is defined.
        types: Of its parameters.

    Raises:
        WorkspaceError: A key or value is not as :mod:`.launcher` describes it.
    """
    table = binding.launch
    try:
        if unknown := set(table) - _KEYS:
            raise ValueError(
                f"unknown key '{sorted(unknown)[0]}' in launch (known: {', '.join(sorted(_KEYS))})"
            )
        args = tuple(_argument(each) for each in binding.args)
        if not {"logits", "indices", "probabilities"} <= set(args):
            raise ValueError("args must name logits, indices and probabilities")
        instances = tuple(int(value) for value in _listed(table, "K"))
        template = tuple(str(value).removeprefix("=") for value in _listed(table, "template"))
        if "K" in template and not instances:
            raise ValueError("a template on K needs the values that are instantiated: K = [5, 10]")
        grid, block = _text(table, "grid", ""), _text(table, "block", "")
        if kernel and not (grid and block):
            raise ValueError("a kernel needs grid and block")
        return Launcher(
            binding.file, binding.name, args, tuple(types), template, instances, kernel, grid, block,
            _text(table, "shared", "0"), _one_of(table, "index", ("int32", "int64")), _stride(table),
            _one_of(table, "returns", ("status", *sorted(_RETURNS))), line, origin=binding.origin,
            why="written by hand",
        )  # fmt: skip
    except (ValueError, TypeError) as error:
        raise WorkspaceError(f"[binding.fuse]: {error}", file="submission.toml") from error


def _argument(argument: Argument) -> str:
    if argument.source in VALUES:
        return argument.source
    if argument.source or argument.parts:
        raise ValueError(f"'{argument}' is no argument: write {', '.join(VALUES)} or ='expression'")
    value = str(argument.literal).lower() if isinstance(argument.literal, bool) else str(argument.literal)
    return f"={_text({'args': value}, 'args', '')}"


def _listed(table: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"'{key}' must be a list")
    return value


def _text(table: Mapping[str, Any], key: str, default: str) -> str:
    value = str(table.get(key, default))
    if any(mark in value for mark in ";{}#\n\\"):
        raise ValueError(f"'{key}' must be one C++ expression")
    return value


def _one_of(table: Mapping[str, Any], key: str, known: Sequence[str]) -> str:
    value = str(table.get(key, known[0]))
    if value not in known:
        raise ValueError(f"'{key}' must be {' or '.join(known)}")
    return value


def _stride(table: Mapping[str, Any]) -> str:
    value = table.get("stride", "K")
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    if not _STRIDE.match(text):
        raise ValueError("'stride' must be K, a number, 'ceil 4', or a list of numbers")
    return text


def stride_of(rule: str, K: int) -> int:
    """Entries between rows of the output.

    Args:
        rule: ``K``, a number, ``ceil n``, or numbers of which the first that holds K counts.
        K: The number of entries.
    """
    if rule == "K":
        return K
    if rule.startswith("ceil "):
        step = max(1, int(rule[5:]))
        return -(-K // step) * step
    numbers = [int(part) for part in rule.split(",")]
    return next((number for number in numbers if number >= K), max(numbers[-1], K))
