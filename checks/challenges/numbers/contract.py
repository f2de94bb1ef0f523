"""What a challenge of numbers asks for, as the shared binder is told it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.challenges.challenge import NUMBERS, Challenge
from judge_tui.checks.challenges.numbers.offered import Numbers, Parameter
from judge_tui.checks.challenges.numbers.parts import parts
from judge_tui.checks.challenges.numbers.truths import Truths, work_of
from judge_tui.checks.challenges.numbers.values import handed
from judge_tui.checks.contract import AVOIDED, Contract, Param, Return, Role, Sample, anything, normal
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Skipped
from judge_tui.checks.sandbox.packages import EVERY
from judge_tui.checks.timing import Size, Timing
from judge_tui.checks.worker.border.codec import decode

__all__ = ["BACKWARD", "SOLUTION", "contract"]

SOLUTION, BACKWARD = "solution", "backward"
_ALWAYS = ("solution", "solve", "forward")
_CACHE = ("ctx", "context", "saved", "state", "residuals", "memo", "aux", "tape")
_UPSTREAM = ("dy", "grad_output", "grad_out", "d_out", "upstream", "grad", "g", "cotangent", "dz", "delta")


def contract(challenge: Challenge, numbers: Numbers, truths: Truths) -> Contract:
    """The contract of a challenge.

    Args:
        challenge: The challenge.
        numbers: What its ``challenge.py`` offers.
        truths: Draws the probe's inputs.
    """
    kept = _asked(challenge, numbers, truths, cache=True) if numbers.gradients else None
    plain = _asked(challenge, numbers, truths, cache=False)
    # what a forward keeps for its backward comes first: who needs nothing kept is found by the other
    return plain if kept is None else replace(kept, otherwise=plain)


def _asked(challenge: Challenge, numbers: Numbers, truths: Truths, *, cache: bool) -> Contract:
    made = [_role(challenge, numbers, cache=cache)]
    if numbers.gradients:
        made.append(_backward(numbers, cache=cache))
    takes = ", ".join(p.name for p in numbers.parameters if p.drawn)
    gives = ", ".join(output.name for output in numbers.outputs)
    return Contract(
        tuple(made),
        _sampler(numbers, truths),
        f"{_names(challenge, numbers)[0]}({takes}) → {gives}",
        frameworks=frozenset(numbers.frameworks),
        packages=frozenset({*numbers.packages, *numbers.frameworks}),
        timing=_timing(numbers, truths),
        leave=truths.authors.close,
        seeded=numbers.seed,
    )


def _timing(numbers: Numbers, truths: Truths) -> Timing | None:
    """What is timed against the reference, where the author says at which sizes."""
    takes = tuple(p.name for p in numbers.parameters if p.drawn)
    # handed over by position
    in_order = all(p.drawn for p in numbers.parameters[: len(takes)])
    if not numbers.bench_sizes or "reference" not in numbers.functions or not in_order:
        return None
    sizes = sorted((_size(size, truths) for size in numbers.bench_sizes), key=lambda size: size.work)
    file = truths.authors.folder.path / NUMBERS
    return Timing(SOLUTION, file, takes, tuple(sizes), call="reference", packages=EVERY, by_value=True)


def _size(sizes: Mapping[str, Any], truths: Truths) -> Size:
    def inputs(rng: np.random.Generator) -> Mapping[str, Any]:
        try:
            drawn = truths.drawn(sizes, int(rng.integers(2**62)))
        except ChallengeFault as fault:
            # gigabytes that there is no room for
            raise Skipped(f"not timed: {label} cannot be drawn here: {fault.message}") from fault
        return {**defaults(truths.numbers), **handed(drawn)}

    label = ", ".join(f"{key}={value}" for key, value in sizes.items())
    return Size(label, work_of(sizes), inputs)


def _names(challenge: Challenge, numbers: Numbers) -> list[str]:
    """What the callable may be called, likeliest first."""
    entry = challenge.settings.entry.rpartition(":")[2]
    if entry and ":" in challenge.settings.entry:
        return [entry]
    return [*dict.fromkeys([*numbers.names, challenge.id.replace("-", "_"), *_ALWAYS])]


def _role(challenge: Challenge, numbers: Numbers, *, cache: bool) -> Role:
    names = _names(challenge, numbers)
    exact = [rf"^_*{spelt}$" for name in names for spelt in (*_whole(name), _spelt(name))]
    near = [rf"{_spelt(name)}" for name in names if len(normal(name)) > 3]
    known = {normal(name) for name in names}
    given = tuple(Return(output.name, _kind(output.shape)) for output in numbers.outputs)
    return Role(
        SOLUTION,
        tuple(_param(parameter, numbers) for parameter in numbers.parameters),
        (*given, *((Return("cache", "handle", _CACHE),) if cache else ())),
        (*exact, *near),
        avoid=tuple(p for p in AVOIDED if not any(re.search(p, name.lower()) for name in known)),
        agrees=anything if numbers.plain else None,
        pure=numbers.pure,
        sure=len(exact),
        by_parameters=True,
        sought=_sought(names, _signature(numbers)),
    )


def _sought(names: Sequence[str], signature: str) -> str:
    """What is looked for, as a clause."""
    return f"looked for what is called {_either(names)}, or takes {signature}"


def _either(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _signature(numbers: Numbers) -> str:
    """What a callable takes, as it would be written."""
    return f"({', '.join(p.name if p.drawn else f'{p.name}=…' for p in numbers.parameters)})"


def _spelt(name: str) -> str:
    """An expression for a name with or without underscores, in any case; dots of a class are taken."""
    return "_*".join(map(re.escape, normal(name.rpartition(".")[2]) or name))


def _whole(name: str) -> list[str]:
    """An expression for the method of just this class, where a name says so."""
    owner, _, method = name.rpartition(".")
    return [rf"{_spelt(owner)}\._*{_spelt(method)}"] if owner else []


def _kind(shape: tuple[int, ...] | None) -> Any:
    return "data" if shape is None else "array"


def _param(parameter: Parameter, numbers: Numbers) -> Param:
    aliases = numbers.aliases.get(parameter.name, ())
    kind: Any = parameter.kind
    # what only the reference has a default for is told to who has none of his own
    return Param(parameter.name, kind, aliases, required=parameter.drawn, spare=not parameter.drawn)


def _backward(numbers: Numbers, *, cache: bool) -> Role:
    dout = Param("dout", aliases=_UPSTREAM)
    kept = (Param("cache", "handle", _CACHE),) if cache else ()
    inputs = tuple(
        Param(p.name, _param(p, numbers).kind, numbers.aliases.get(p.name, ()), required=False)
        for p in numbers.parameters
    )
    given = tuple(
        Return(f"d{name}", aliases=tuple(_gradient_names(name, numbers.aliases.get(name, ()))))
        for name in numbers.gradients
    )
    return Role(
        BACKWARD,
        (dout, *kept, *inputs),
        given,
        (r"backward|bwd", r"grad|vjp|pullback"),
        avoid=AVOIDED,
        sure=1,
        sought=_sought(("backward", "bwd", "grad", "vjp", "pullback"), "(dout, …)"),
    )


def _gradient_names(name: str, aliases: Collection[str]) -> list[str]:
    return [
        spelt
        for each in (name, *aliases)
        for spelt in (f"d{each}", f"grad_{each}", f"{each}_grad", f"d_{each}", f"grads_{each}", f"g{each}")
    ]


def _sampler(numbers: Numbers, truths: Truths) -> Callable[[np.random.Generator], Sample]:
    def sample(rng: np.random.Generator) -> Sample:
        sizes = _telling(numbers.sizes)
        inputs = truths.inputs(sizes, int(rng.integers(2**62)))
        shapes: dict[str, tuple[int, ...]] = {}
        values: dict[str, Any] = {**defaults(numbers), **handed(inputs)}
        if not numbers.plain:
            answer = parts(truths.answer(inputs), numbers)
            shapes = {name: tuple(part.shape) for name, part in answer.items()}
            if numbers.gradients:
                first = next(iter(answer.values()))
                values["dout"] = rng.standard_normal(first.shape)
                shapes |= {f"d{name}": np.shape(inputs[name]) for name in numbers.gradients}
        return Sample(values, shapes)

    return sample


def _telling(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """The case whose sizes tell axes apart best, and are small."""

    def vague(case: Mapping[str, Any]) -> tuple[int, int, float]:
        sizes = [value for value in case.values() if isinstance(value, int) and not isinstance(value, bool)]
        alike = len(sizes) - len({size for size in sizes if size > 1})
        # of one or two items hardly anything that a call does can be seen
        few = sum(size < 3 for size in sizes)
        return alike, few, math.prod(map(float, sizes))

    return min(cases, key=vague)


def defaults(numbers: Numbers) -> dict[str, Any]:
    """Name → the reference's own default, for what the inputs do not hold."""
    return {p.name: decode(p.default) for p in numbers.parameters if not p.drawn}
