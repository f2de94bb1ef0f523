"""What a wrong answer of one sequence of a ragged batch attends to instead of its own tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tasks.kv.words.row_words import Row, instead
from judge_tui.checks.tolerance import relative_error

__all__ = ["sequence_words", "stored_words"]

Array = npt.NDArray[Any]
#: Relative error of an answer that is the same.
_SAME = 1e-3


def sequence_words(
    out: Array,
    q: Array,
    stream: tuple[Array, Array, Array],
    held: Sequence[Sequence[int]],
    b: int,
    seen: int,
    at: int = -1,
) -> str:
    """What the answer equals, as a clause behind "attention in which"; empty where it is nothing usual.

    Args:
        out: The answer of one row, (1, H, 1, D).
        q: Its query, (1, H, 1, D).
        stream: All that was fed, padding too, (B, H, N, D).
        held: Which tokens of the stream each sequence has.
        b: The sequence.
        seen: How many of its tokens the row should see.
        at: Where its query stands in the stream, and those of the others too; -1 where they do not.
    """

    def row(j: int, tokens: Sequence[int]) -> Row:
        return stream[1][j][:, list(tokens)], stream[2][j][:, list(tokens)]

    is_it = partial(_is, out, q)
    if not np.isfinite(out).all():
        return ""
    own = list(held[b])
    prompt = next((i for i, t in enumerate(own) if t != i), len(own))
    for tokens, words in _other_tokens(own, prompt, seen):
        if is_it(row(b, tokens)):
            return words
    for j in (j for j in range(len(held)) if j != b):
        if is_it(row(j, held[j])):
            return f"it sees what sequence {j} was fed, and not its own tokens"
        if at >= 0 and _is(out, stream[0][j : j + 1, :, at : at + 1], row(b, own[:seen])):
            return f"its query is that of sequence {j}"
        if at >= 0 and _is(out, stream[0][j : j + 1, :, at : at + 1], row(j, held[j])):
            return f"its answer is that of sequence {j}"
    those = [(f"sequence {j}", row(j, tokens)) for j, tokens in enumerate(held) if j != b]
    return instead(is_it, row(b, own[:seen]), those, min(prompt, seen)) or _of_the_longest(
        is_it, row(b, own[:seen]), max(map(len, held))
    )


def stored_words(pair: Row, stream: tuple[Array, Array, Array], held: Sequence[Sequence[int]], b: int) -> str:
    """What is read back of a sequence, (1, H, S, D) each, in the place of its own tokens, as a clause."""

    def row(j: int) -> Row:
        return stream[1][j][:, list(held[j])], stream[2][j][:, list(held[j])]

    def is_it(one: Row) -> bool:
        same = one[0].shape == pair[0].shape[1:]
        return same and all(
            relative_error(got[0], x.astype(float)) <= _SAME for got, x in zip(pair, one, strict=True)
        )

    those = [(f"sequence {j}", row(j)) for j in range(len(held)) if j != b]
    return instead(is_it, row(b), those, len(held[b]) - 1)


def _other_tokens(own: list[int], prompt: int, seen: int) -> Iterator[tuple[list[int], str]]:
    """Other tokens of the same sequence that a row may see, and the words for it."""
    for more in range(1, len(own) - seen + 1):
        behind = f"{more} token{'s' * (more > 1)} behind its own {'are' if more > 1 else 'is'} seen"
        yield own[: seen + more], f"{behind} (no causal mask, or one from elsewhere)"
    if seen > prompt:
        for many in range(1, own[prompt] - prompt + 1):
            padding = range(prompt, prompt + many)
            are = f"{many} token{'s' * (many > 1)} of padding behind its prompt {'are' if many > 1 else 'is'}"
            yield [*own[:prompt], *padding, *own[prompt:seen]], f"{are} seen"
        rested = sorted({*range(own[prompt], own[seen - 1] + 1)} - {*own})
        for many in range(1, len(rested) + 1):
            words = "tokens that came for others while it rested are seen"
            yield sorted([*own[:seen], *rested[:many]]), words
            yield [*own[: seen - 1], *rested[:many], own[seen - 1]], words


def _of_the_longest(is_it: Callable[[Row], bool], own: Row, longest: int) -> str:
    """Whether empty slots up to as many as the longest sequence has are seen."""
    many = longest - own[0].shape[1]
    if many < 1:
        return ""
    k, v = (np.pad(x, ((0, 0), (0, many), (0, 0))) for x in own)
    return f"it sees as many slots as the longest sequence has tokens, {longest}" if is_it((k, v)) else ""


def _is(out: Array, q: Array, row: Row) -> bool:
    if not row[0].shape[1]:
        return False
    with np.errstate(all="ignore"):
        return relative_error(out, attention(q, row[0][None], row[1][None])) <= _SAME
