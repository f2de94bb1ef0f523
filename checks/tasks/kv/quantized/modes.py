"""A cache that can be told how to store, in a mode that it makes and that holds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.kv.finding.quantized import PREFIXES
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["judge_modes"]

#: What takes a word for how a cache stores, words for codes, and what tells it to quantize.
_MODE = re.compile(r"(?i)mode|quanti[sz]|storage|precision|scheme|format|codec")
_WORDS = ("int8", "int4")
_SWITCH = re.compile(r"(?i)quanti[sz]|int_?8|int_?4|8_?bit|4_?bit")
#: Of a head: a multiple of what numbers that share a scale may be.
_WIDTH = 128
#: As many as no other axis has.
_TOKENS = 9
_PARTS = ("append", "append_many", "read")


def judge_modes(bench: Bench, found: Findings) -> list[str]:
    """Feed the plain cache in each mode of codes that it makes and that has not been found to go.

    Returns:
        What is wrong, in words.
    """
    bound = bench.bindings.found
    plain = bound.get("create")
    if plain is None or not {"append", "append_many"} & set(bound):
        return []
    judged = {str(arg) for prefix in PREFIXES if prefix in bound for arg in bound[prefix].args}
    said = []
    for mode in _modes(bench, plain):
        if str(mode.argument) in judged:
            continue
        fault = _broken(bench, {**{n: bound[n] for n in _PARTS if n in bound}, "create": mode.made})
        if fault is None or (isinstance(fault, Raised) and refusal(bench.submission, fault)):
            continue
        found.claim(
            f"{mode}: tokens go in and come back, as without", False, measured=fault.message,
            limit="no error", file=fault.file, line=fault.line,
        )  # fmt: skip
        said.append(f"{mode}: {fault.placed}")
    return said


@dataclass(frozen=True, slots=True)
class _Mode:
    """A cache that is told how to store.

    Attributes:
        plain: What makes it.
        argument: What it is told beside the rest.
    """

    plain: Binding
    argument: Argument

    def __str__(self) -> str:
        return f"{self.plain.name} with {self.argument.keyword}={self.argument.literal!r}"

    @property
    def made(self) -> Binding:
        """What makes it so."""
        return replace(self.plain, args=(*self.plain.args, self.argument))


def _modes(bench: Bench, plain: Binding) -> Iterator[_Mode]:
    """The modes of codes that it makes; of what is told by a word, those that it knows among others."""
    for param in _params(bench, plain):
        name, default = str(param["name"]), param.get("default")
        if default is False and _SWITCH.search(name):
            yield from _makes(bench, plain, name, (True,))
        if (
            isinstance(default, str)
            and _MODE.search(name)
            and not [*_makes(bench, plain, name, ("no such",))]
        ):
            yield from _makes(bench, plain, name, _WORDS)


def _params(bench: Bench, plain: Binding) -> Sequence[Mapping[str, Any]]:
    inventory = bench.worker.loaded.get(plain.file, {})
    made = [*inventory.get("classes", ()), *inventory.get("functions", ())]
    return next((each["params"] or () for each in made if each["name"] == plain.name), ())


def _makes(bench: Bench, plain: Binding, keyword: str, values: Sequence[object]) -> Iterator[_Mode]:
    for value in values:
        mode, made = _Mode(plain, Argument("", keyword, literal=value)), False
        with Guess(bench.worker):
            invoke(bench.worker, mode.made, Sizes().inputs(), budget=10.0)
            made = True
        if made:
            yield mode


def _broken(bench: Bench, roles: Mapping[str, Binding]) -> Raised | BadResult | None:
    """What goes wrong with tokens that are put into an empty cache, and read back."""
    subject = Subject(bench, dict(roles))
    sizes = replace(subject.sizes(2, 2 * _TOKENS), head_dim=_WIDTH)
    with Guess(bench.worker) as guess:
        cached = subject.cached(sizes)
        cached.goes, cached.mode = None, "read"
        cached.feed(*drawn(np.random.default_rng(31), sizes, _TOKENS))
        if "read" in roles:
            cached.stored(1)
    return guess.fault if isinstance(guess.fault, Raised | BadResult) else None
