"""Ways to decode at a width of one that are not argmax decoding: which of them gives all that came back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens

__all__ = ["Decoded", "decoded_as"]

_LEAST = 1


@dataclass(frozen=True, slots=True)
class Decoded:
    """What came back at a width of one.

    Attributes:
        script: The model.
        prompt: Token ids.
        steps: Most new tokens.
        right: Argmax decoding.
        came: What was returned.
    """

    script: Script
    prompt: Tokens
    steps: int
    right: Tokens
    came: Tokens


#: (prompt, what is generated so far) → what the model is asked behind.
_Asked = Callable[[Tokens, Tokens], Sequence[int]]
#: A row, EOS → the token that is taken.
_Taken = Callable[[np.ndarray, int], int]


def _most(row: np.ndarray, _eos: int) -> int:
    return int(np.argmax(row))


def _whole(prompt: Tokens, text: Tokens) -> Sequence[int]:
    return (*prompt, *text)


def _way(asked: _Asked = _whole, taken: _Taken = _most, *, on: bool = False) -> Callable[[Decoded], Tokens]:
    def way(one: Decoded) -> Tokens:
        text: Tokens = ()
        while len(text) < one.steps and (on or one.script.eos not in text):
            row = one.script.rows.row(tuple(asked(one.prompt, text)))
            text = (*text, taken(row, one.script.eos))
        # what is EOS to its end reads as one
        while text[-2:] == (one.script.eos,) * 2:
            text = text[:-1]
        return text

    return way


def _barred(row: np.ndarray, eos: int) -> int:
    return int(np.argmax(np.where(np.arange(len(row)) == eos, -np.inf, row)))


def _eos_of_two(row: np.ndarray, eos: int) -> int:
    return eos if eos in np.argsort(-row, kind="stable")[:2] else _most(row, eos)


def _runner_up(one: Decoded) -> Tokens:
    """EOS ends a copy of the beam where it is the second choice, and the best sum of all wins."""
    text: Tokens = ()
    total, ends = 0.0, list[tuple[float, Tokens]]()
    while len(text) < one.steps and one.script.eos not in text:
        row = one.script.rows.row((*one.prompt, *text))
        first, second = np.argsort(-row, kind="stable")[:2].tolist()
        if second == one.script.eos:
            ends.append((total + float(row[second]), (*text, second)))
        text, total = (*text, first), total + float(row[first])
    return max([(total, text), *ends])[1]


def _unlike(forbidden: Callable[[Tokens, int], Sequence[int]]) -> Callable[[Decoded], Tokens]:
    """Some tokens cannot come, by what is generated so far and EOS."""

    def way(one: Decoded) -> Tokens:
        text: Tokens = ()
        while len(text) < one.steps and one.script.eos not in text:
            row = np.array(one.script.rows.row((*one.prompt, *text)))
            row[list(forbidden(text, one.script.eos))] = -np.inf
            text = (*text, int(np.argmax(row)))
        return text

    return way


def _last(count: int) -> Callable[[Decoded], Tokens]:
    return _way(lambda prompt, text: (*prompt, *text)[-count:])


#: Words, behind "as where" → what comes back then.
_WAYS: Mapping[str, Callable[[Decoded], Tokens]] = {
    "the least likely token is taken": _way(taken=lambda row, _: int(np.argmin(row))),
    "the least likely tokens are looked at": _way(
        taken=lambda row, _: int(np.argsort(row, kind="stable")[1])
    ),
    "the second likeliest token is taken": _way(taken=lambda row, _: int(np.argsort(-row)[1])),
    "the model is asked without the prompt": _way(lambda _, text: text),
    "the model is asked about the last token alone": _way(lambda prompt, text: (*prompt, *text)[-1:]),
    "the model is asked about the prompt and the newest token alone": _way(
        lambda prompt, text: (*prompt, *text[-1:])
    ),
    "the state of each step is dropped: the newest token stands in the place of the prompt's last one": _way(
        lambda prompt, text: (*prompt[:-1], *(text or prompt)[-1:])
    ),
    "the row of the position before the last is read": _way(
        lambda prompt, text: (*prompt, *text)[:-1] or prompt
    ),
    "the model is asked about the prompt alone, again and again": _way(lambda prompt, _: prompt),
    "the model is asked without the first token": _way(lambda prompt, text: (*prompt, *text)[1:]),
    **{f"the model is asked about the last {count} tokens alone": _last(count) for count in (2, 3, 4, 8, 16)},
    "a token cannot follow itself": _unlike(lambda text, _: text[-1:]),
    "no token can come twice": _unlike(lambda text, _: text),
    "EOS cannot come first": _unlike(lambda text, eos: [eos] if not text else []),
    "the model is asked without the newest token": _way(lambda prompt, text: (*prompt, *text[:-1])),
    "EOS does not end a beam": _way(on=True),
    "EOS never comes": _way(taken=_barred),
    "EOS ends a beam where it is among the two likeliest tokens": _way(taken=_eos_of_two),
    "EOS ends a copy of the beam where it is the second choice": _runner_up,
    "it ends a step early": lambda one: one.right[: one.steps - 1],
    "the last step is missing, and EOS is taken to stand there": lambda one: (
        one.right if one.script.eos in one.right[:-1] else (*one.right[:-1], one.script.eos)
    ),
    "EOS is put behind what comes to its most new tokens": lambda one: (
        one.right if one.script.eos in one.right else (*one.right, one.script.eos)
    ),
    "the prompt's tokens count among the most new ones": lambda one: one.right[: one.steps - len(one.prompt)],
    "the prompt's tokens count among the most new ones (EOS taken to stand there)": lambda one: (
        one.right
        if len(one.right) <= one.steps - len(one.prompt)
        else (*one.right[: max(one.steps - len(one.prompt), 0)], one.script.eos)
    ),
    "the first token is left out": lambda one: one.right[1:],
}


def decoded_as(seen: Sequence[Decoded]) -> str:
    """The one way of decoding that gives all that came, in words behind "as where"; empty for none.

    Args:
        seen: What came back, search by search.
    """
    if sum(one.came != one.right for one in seen) < _LEAST:
        return ""
    fit = list(_fitting(seen))
    return fit[0] if len(fit) == 1 else ""


def _fitting(seen: Sequence[Decoded]) -> Iterator[str]:
    for words, way in _WAYS.items():
        if all(way(one) == one.came for one in seen):
            yield words
