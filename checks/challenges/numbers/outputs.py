"""What the reference gives: whether it is one thing or several, and whether it can be judged by at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from judge_tui.checks.calling.remote import Random
from judge_tui.checks.challenges.author import Author
from judge_tui.checks.challenges.numbers.comparing import compared
from judge_tui.checks.worker.border.codec import Record

__all__ = ["Answer", "Output", "answer_of"]

#: How far two answers to the same inputs may be apart: threads may add up in another order.
_REPEATED = 1e-6
#: Parts of plain data that are held one by one; of more the whole is held.
_FEW = 16


class Output(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of what a solution gives.

    Attributes:
        name: Its name: the author's, the field's, the key, or its number.
        shape: Of an array in the first case; ``None`` where the answer is taken as a whole, as plain data.
    """

    name: str
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How the reference answers, as :class:`.offered.Numbers` has it.

    Attributes:
        outputs: What a solution gives.
        parts: Names of the parts of an answer that is taken as a whole.
        form: How several things are given.
    """

    outputs: tuple[Output, ...]
    parts: tuple[str, ...] = ()
    form: str = ""


def answer_of(
    author: Author, drawn: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], results: Sequence[str]
) -> Answer:
    """Ask the reference about the first case.

    Args:
        author: Its process.
        drawn: The first case's inputs.
        cases: Sizes of all cases.
        results: The author's names of a tuple's parts.

    Raises:
        ChallengeFault: It answers otherwise when it is asked again, has no answers, or fewer than names.
    """
    answer = author.call("reference", (), drawn)
    _repeats(author, answer, drawn)
    if answer is None and not any(_answered(author, sizes) for sizes in cases[1:]):
        raise author.fault("reference gives None in every case: it must return what a solution has to give")
    named = _named(answer, results)
    arrays = named is not None and all(_is_array(part) for part in named.values())
    count = len(named) if arrays and named else len(answer) if isinstance(answer, tuple) else 1
    if results and len(results) != count:
        raise author.fault(f"RESULTS names {len(results)} parts, and reference gives {count}")
    if arrays and named:
        outputs = tuple(Output(name, tuple(part.shape)) for name, part in named.items())
        return Answer(outputs, form=_form(answer))
    several = named is not None and 1 < len(named) <= _FEW
    name = results[0] if len(results) == 1 else "result"
    return Answer((Output(name),), tuple(named or ()) if several else ())


def _repeats(author: Author, answer: Any, drawn: Mapping[str, Any]) -> None:
    """Be sure that the reference gives the same again.

    Raises:
        ChallengeFault: It does not.
    """
    again = compared(author.call("reference", (), drawn), answer)
    if again.wrong or not again.error <= _REPEATED:
        raise author.fault("reference gives another answer to the same inputs: it must depend on them alone")


def _answered(author: Author, sizes: Mapping[str, Any]) -> bool:
    """Whether the reference gives anything in a case."""
    inputs = author.call("inputs", [Random(0)], sizes)
    return not isinstance(inputs, dict) or author.call("reference", (), inputs) is not None


def _form(answer: Any) -> str:
    """How several things are given; empty where one is."""
    if isinstance(answer, Record):
        return f"{answer.kind}:{answer.name}"
    if isinstance(answer, tuple):
        return "tuple"
    return "dict" if isinstance(answer, dict) else ""


def _named(answer: Any, results: Sequence[str]) -> dict[str, Any] | None:
    """Name → part, of an answer that has parts; a lone array is its only one."""
    if _is_array(answer):
        return {results[0] if results else "result": answer}
    if isinstance(answer, tuple):
        names = [*results, *(str(index) for index in range(len(results), len(answer)))]
        return dict(zip(names, answer, strict=False))
    if isinstance(answer, Record) and answer.kind != "E":
        return dict(answer.fields)
    if isinstance(answer, dict) and answer and all(isinstance(key, str) for key in answer):
        return dict(answer)
    return None


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.ndim > 0
