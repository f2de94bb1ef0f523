"""What a ``challenge.py`` offers, asked of it once in its author's jail."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from judge_tui.checks.calling.remote import Random
from judge_tui.checks.challenges.author import Author
from judge_tui.checks.challenges.challenge import OPEN
from judge_tui.checks.challenges.numbers.fitting import lacking, taken_by
from judge_tui.checks.challenges.numbers.outputs import Answer, Output, answer_of
from judge_tui.checks.challenges.written import FUNCTIONS, PROPERTY
from judge_tui.checks.worker.border.codec import Encoder, decode

__all__ = ["Numbers", "Output", "Parameter", "offered"]

#: Defaults that a description holds by value.
_TOLD = (bool, int, float, type(None))
_DTYPES = ("float64", "float32")
#: Draws of the first case from one seed: what differs between them is drawn from something else.
_SEED = 20_240_607


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that a solution takes.

    Attributes:
        name: As the author's code calls it.
        kind: What the binder is told: ``array``, ``int``, ``float``, ``bool`` or ``data``.
        drawn: Whether the inputs of every case hold it; else it is a default of the reference's.
        default: The reference's default, as :mod:`~judge_tui.checks.worker.border.codec` writes it; empty
            where it has none that is told by value.
    """

    name: str
    kind: str
    drawn: bool = True
    default: bytes = b""


class Numbers(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a ``challenge.py`` offers.

    Attributes:
        doc: Its docstring.
        functions: Which of the functions that mean something it defines, with their lines.
        properties: ``property_*`` → line and docstring.
        parameters: What a solution takes, in the reference's order.
        outputs: What it gives.
        names, aliases, results, dtypes, gradients, forbidden, frameworks, packages: As the author wrote them.
        parts: Names of the parts of an answer that is taken as a whole, where it has several.
        form: How the reference gives several things: ``tuple``, ``dict``, ``nt:Name`` or ``dc:Name`` of a
            named tuple or dataclass; empty where it gives one, or is taken as a whole.
        tolerance: As the author wrote it, if at all.
        seed: What shared random generators are seeded with before a submission is called, if anything.
        pure: Whether a submission must leave its arguments alone.
        cases, bench: Sizes, as :mod:`~judge_tui.checks.worker.border.codec` writes them.
    """

    doc: str
    functions: dict[str, int]
    properties: dict[str, tuple[int, str]]
    parameters: tuple[Parameter, ...]
    outputs: tuple[Output, ...]
    cases: bytes
    bench: bytes
    names: tuple[str, ...] = ()
    aliases: dict[str, tuple[str, ...]] = {}
    results: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = _DTYPES
    gradients: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = OPEN
    packages: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    form: str = ""
    tolerance: float | dict[str, float | dict[str, float]] | None = None
    seed: int | None = None
    pure: bool = True

    @property
    def sizes(self) -> list[dict[str, Any]]:
        """The cases' sizes."""
        return list(decode(self.cases))

    @property
    def bench_sizes(self) -> list[dict[str, Any]]:
        """The sizes at which a call is timed, smallest first."""
        return list(decode(self.bench))

    @property
    def plain(self) -> bool:
        """Whether the answer is taken as a whole, as plain data."""
        return any(output.shape is None for output in self.outputs)


def offered(author: Author) -> Numbers:
    """Ask the author's code what it offers.

    Args:
        author: Its process.

    Raises:
        ChallengeFault: It cannot be run, or contradicts itself.
        Skipped: It needs a package that is not installed.
    """
    inventory = author.loaded()
    functions = {f["name"]: f for f in inventory["functions"]}
    ask = _Asked(author, functions)
    _demand(author, functions)
    cases = ask.sizes("CASES", [{}])
    taken_by(author, functions["inputs"], "CASES", cases)
    bench = ask.sizes("BENCH", [])
    taken_by(author, functions["inputs"], "BENCH", bench)
    drawn = _drawn(author, cases[0])
    parameters = _parameters(drawn, functions.get("reference"), author)
    results = ask.texts("RESULTS")
    known = {parameter.name for parameter in parameters}
    gradients = ask.texts("GRADIENTS")
    _subset(author, "GRADIENTS", gradients, known)
    aliases = ask.aliases(known)
    answered = (
        answer_of(author, drawn, cases, results) if "reference" in functions else Answer((Output("result"),))
    )
    return Numbers(
        doc=author.constant("__doc__", None) or "",
        functions={name: functions[name]["line"] for name in FUNCTIONS if name in functions},
        properties={
            name: (f["line"], f["doc"]) for name, f in functions.items() if name.startswith(PROPERTY)
        },
        parameters=parameters,
        outputs=answered.outputs,
        parts=answered.parts,
        form=answered.form,
        cases=Encoder().encode(cases),
        bench=Encoder().encode(bench),
        names=ask.texts("NAMES"),
        aliases=aliases,
        results=results,
        dtypes=ask.dtypes(),
        gradients=gradients,
        forbidden=ask.texts("FORBIDDEN"),
        frameworks=ask.texts("FRAMEWORKS", OPEN),
        packages=ask.texts("PACKAGES"),
        tolerance=ask.tolerance({*answered.parts, *(output.name for output in answered.outputs)}),
        seed=ask.seed(),
        pure=ask.pure(),
    )


def _demand(author: Author, functions: Collection[str]) -> None:
    """Be sure that what must be there is, and that what must be a function is one.

    Raises:
        ChallengeFault: Something is missing, or a value.
    """
    for name in FUNCTIONS:
        if name not in functions and author.written.line(name):
            raise author.fault(f"{name} must be a function that is written here: def {name}(…)")
    if "inputs" not in functions:
        raise lacking(author, "no function inputs(rng, …)", "inputs")
    if "reference" not in functions and "check" not in functions:
        raise lacking(author, "neither reference(…) nor check(result, …)", "reference", "check")


class _Asked:
    """The constants of a ``challenge.py``, each held to what it may be."""

    def __init__(self, author: Author, functions: Mapping[str, Any]) -> None:
        self._author = author
        self._functions = functions

    def _get(self, name: str, default: Any) -> Any:
        if name in self._functions:
            raise self._author.fault(f"{name} is a function, and must be a value")
        return self._author.constant(name, default)

    def texts(self, name: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of texts; a lone text is a list of one."""
        value = self._get(name, list(default))
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, (list, tuple, set, frozenset)) or not all(isinstance(v, str) for v in value):
            raise self._author.fault(f'{name} must be a list of texts, such as {name} = ["a", "b"]')
        return tuple(sorted(value) if isinstance(value, (set, frozenset)) else value)

    def sizes(self, name: str, default: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """A list of what ``inputs`` takes beside the generator."""
        value = self._get(name, default)
        value = [value] if isinstance(value, dict) else value
        good = isinstance(value, (list, tuple)) and all(isinstance(case, dict) for case in value)
        if not good or not all(isinstance(key, str) for case in value for key in case):
            raise self._author.fault(f"{name} must be a list of dicts, such as {name} = [dict(rows=6)]")
        if name == "CASES" and not value:
            raise self._author.fault("CASES is empty: nothing would be judged")
        return list(value)

    def aliases(self, known: set[str]) -> dict[str, tuple[str, ...]]:
        """Parameter → other spellings."""
        value = self._get("ALIASES", {})
        if not isinstance(value, dict):
            raise self._author.fault('ALIASES must be a dict, such as ALIASES = {"gain": ["gamma"]}')
        _subset(self._author, "ALIASES", value, known)
        told = {key: [names] if isinstance(names, str) else names for key, names in value.items()}
        if not all(
            isinstance(n, (list, tuple)) and all(isinstance(x, str) for x in n) for n in told.values()
        ):
            raise self._author.fault("ALIASES must give each parameter a list of texts")
        return {key: tuple(names) for key, names in told.items()}

    def dtypes(self) -> tuple[str, ...]:
        """Names of float dtypes."""
        found = self.texts("DTYPES", _DTYPES)
        for name in found:
            if not _is_float(name):
                raise self._author.fault(f"DTYPES names '{name}', which is no floating-point dtype")
        if not found:
            raise self._author.fault("DTYPES is empty: nothing would be judged")
        return tuple(np.dtype(name).name for name in found)

    def seed(self) -> int | None:
        """What shared random generators are seeded with."""
        value = self._get("SEED", None)
        if value is not None and not (type(value) is int and 0 <= value < 2**32):
            raise self._author.fault("SEED must be a whole number from 0 to 2**32 - 1")
        return value if isinstance(value, int) else None

    def pure(self) -> bool:
        """Whether arguments are to be left alone."""
        value = self._get("PURE", True)
        if not isinstance(value, bool):
            raise self._author.fault("PURE must be True or False")
        return value

    def tolerance(self, results: set[str]) -> float | dict[str, float | dict[str, float]] | None:
        """The author's own limits, each of something that there is."""
        value = self._get("TOLERANCE", None)
        if value is None or _is_limit(value):
            return None if value is None else float(value)
        if isinstance(value, dict) and all(_is_limit(v) or _is_table(v) for v in value.values()):
            if unknown := [key for key in value if key not in results and not _is_float(key)]:
                raise self._author.fault(
                    f"TOLERANCE names {unknown[0]!r}, which is neither a dtype nor a result "
                    f"(results: {', '.join(sorted(results))})"
                )
            return {
                str(key): float(item) if _is_limit(item) else {str(k): float(v) for k, v in item.items()}
                for key, item in value.items()
            }
        raise self._author.fault(
            'TOLERANCE must be a number, or a dict of numbers by dtype or result, such as {"float32": 1e-4}'
        )


def _is_float(name: Any) -> bool:
    """Whether it is the name of a float dtype."""
    try:
        return isinstance(name, str) and np.dtype(name).kind == "f"
    except TypeError:
        return False


def _is_limit(value: Any) -> bool:
    number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    return bool(number and value >= 0 and np.isfinite(value))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_limit, value.values()))


def _subset(author: Author, what: str, names: Iterable[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise author.fault(
                f"{what} names '{name}', which is no input (known: {', '.join(sorted(known))})"
            )


def _drawn(author: Author, case: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a case, drawn twice from one seed."""
    first, second = (author.call("inputs", [Random(_SEED)], case) for _ in range(2))
    if not isinstance(first, dict) or not all(isinstance(key, str) for key in first):
        raise author.fault("inputs gives no dict of name → value")
    if not first:
        raise author.fault("inputs gives an empty dict: a solution would be called with nothing")
    if Encoder().encode(first) != Encoder().encode(second):
        raise author.fault(
            "inputs gives other values when it draws from the same seed again: it must draw from rng alone"
        )
    return first


def _kind(value: Any) -> str:
    for kind, types in (
        ("bool", (bool, np.bool_)),
        ("int", (int, np.integer)),
        ("float", (float, np.floating)),
    ):
        if isinstance(value, types):
            return kind
    return "array" if isinstance(value, np.ndarray) and value.dtype.kind in "fiub" else "data"


def _parameters(
    drawn: Mapping[str, Any], reference: Mapping[str, Any] | None, author: Author
) -> tuple[Parameter, ...]:
    """What a solution takes: the reference's parameters in their order, then what else is drawn."""
    signature = (reference or {}).get("params") or ()
    order = [p for p in signature if not p["kind"].startswith("VAR_")]
    names = [p["name"] for p in order]
    takes_all = any(p["kind"] == "VAR_KEYWORD" for p in signature)
    if reference is not None:
        if unknown := [name for name in drawn if name not in names and not takes_all]:
            raise author.fault(f"inputs draws '{unknown[0]}', which reference does not take")
        if open_ := [p["name"] for p in order if p["name"] not in drawn and "default" not in p]:
            raise author.fault(f"reference takes '{open_[0]}', which inputs does not draw")
    # edge cases, refusals and claims may leave out what the reference has a default for
    own = {p["name"]: Encoder().encode(p["default"]) for p in order if _is_told(p)}
    made = [Parameter(name, _kind(drawn[name]), True, own.get(name, b"")) for name in names if name in drawn]
    made += [Parameter(name, _kind(drawn[name])) for name in drawn if name not in names]
    return (*made, *(
        Parameter(p["name"], _kind(p["default"]), False, Encoder().encode(p["default"]))
        for p in order if p["name"] not in drawn and _is_told(p) and p["default"] is not None
    ))  # fmt: skip


def _is_told(parameter: Mapping[str, Any]) -> bool:
    """Whether a parameter has a default that a description holds as it is; of others it holds their text."""
    default = parameter.get("default", "")
    return bool(parameter.get("text")) or (isinstance(default, _TOLD) and not isinstance(default, str))
