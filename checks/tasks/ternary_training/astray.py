"""Which weights alone are projected wrongly, and what they become: a part in words, exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.grouping import Grouping, mean_scale
from judge_tui.checks.tasks.ternary_training.roles import GROUP

__all__ = ["ALL", "BECOMING", "astray"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: What comes before what weights become: where all do, and behind a part.
ALL = "all of them"
BECOMING = "alone are wrong: they"
#: How far what stands in a part may be off, over max(1, s).
_SAME = 2e-5
#: How near |W|/s may be to a half and still be taken to either neighbour.
_TIE = 1e-4
#: Wrong weights from which a border can be read off, and their share on its side.
_FEWEST, _MOST = 20, 0.9
#: Share of a part that must be wrong where it is not known what it becomes.
_WRONG = 0.25
#: Wrong answers that show what is about a whole shape.
_SHAPES = 2
#: Parts that say nothing by themselves.
_PLAIN = ("become 0", "become ±s", "below s")
_UNITS = (4, 8, 16, 32, 64, GROUP)
_BORDERS = (16, 32, 64, 100, GROUP, 256, 512, 1024)


@dataclass(frozen=True, slots=True)
class _Seen:
    """One answer beside what it should be, (out, in) each; ``group`` and ``length`` are of each weight."""

    weight: Array
    projected: Array
    s: Array
    right: Array
    wrong: Mask
    group: Array
    length: Array

    def off(self, value: Array) -> Mask:
        """Where something else than a value stands, ties at s/2 left out."""
        return np.asarray(np.abs(self.projected - value) > _SAME * np.maximum(1.0, self.s)) & ~self.ties

    @property
    def ties(self) -> Mask:
        """Weights at s/2, whose level may be either."""
        safe = np.where(self.s > 0, self.s, 1.0)
        return np.asarray(np.abs(np.abs(self.weight) / safe - 0.5) < _TIE)


def astray(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> str:
    """Which weights alone are wrong and what they become, as a clause; empty where that explains not all.

    Args:
        answers: Latent weights and their projection, (out, in) each.
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """
    seen = [_seen(weight, projected, grouping, transposed) for weight, projected in answers]
    wrong = [one for one in seen if one.wrong.any()]
    if not wrong:
        return ""
    for what in _BECOMES:
        if not any(one.off(_becomes(one, what)).any() for one in seen):
            return f"{ALL} {what}"
    listed = [list(_parts(one)) for one in seen]
    parts = [(named[0][0], [mask for _words, mask in named]) for named in zip(*listed, strict=True)]
    first = ""
    for words, masks in (*parts, *_beyond(seen)):
        if any((one.wrong & ~mask).any() for one, mask in zip(seen, masks, strict=True)):
            continue
        if len(wrong) < _SHAPES and all(mask.all() or not mask.any() for mask in masks):
            # one wrong shape may be like this by chance
            continue
        for what in _BECOMES:
            if not any(
                one.off(_becomes(one, what))[mask].any() for one, mask in zip(seen, masks, strict=True)
            ):
                return f"{words} {BECOMING} {what}"
        if not first and not words.endswith(_PLAIN) and _mostly(seen, masks):
            first = f"{words} alone are wrong"
    return first


def _beyond(seen: Sequence[_Seen]) -> Iterator[tuple[str, list[Mask]]]:
    """Weights on one side of a border that is read off, with the masks of each answer."""
    for name, unit in (("|W|", "·s"), ("W", "·s"), ("|W|", ""), ("W", ""), ("s", "")):
        values = [_measured(one, name, unit) for one in seen]
        whole = np.concatenate([each.ravel() for each in values])
        wrong = np.concatenate([one.wrong.ravel() for one in seen])
        if wrong.sum() < _FEWEST:
            continue
        for words, border, within in (
            ("above", float(whole[wrong].min()), whole >= whole[wrong].min()),
            ("below", float(whole[wrong].max()), whole <= whole[wrong].max()),
        ):
            if wrong[within].mean() > _MOST and not within.all():
                masks = [each >= border if words == "above" else each <= border for each in values]
                yield f"weights with {name} {words} {border:.3g}{unit}", masks


def _measured(one: _Seen, name: str, unit: str) -> Array:
    if name == "s":
        return one.s
    value = np.abs(one.weight) if name == "|W|" else one.weight
    return np.asarray(value / np.where(one.s > 0, one.s, 1.0) if unit else value)


def _mostly(seen: Sequence[_Seen], masks: Sequence[Mask]) -> bool:
    """Whether a part is wrong wherever it is met, and is not all there is."""
    met = [(one, mask) for one, mask in zip(seen, masks, strict=True) if mask.any()]
    beside = any((~mask).any() for mask in masks)
    return beside and bool(met) and all(one.wrong[mask].mean() > _WRONG for one, mask in met)


def _seen(weight: Array, projected: Array, grouping: Grouping, transposed: bool) -> _Seen:
    s = mean_scale(weight, grouping, transposed).values
    safe = np.where(s > 0, s, 1.0)
    right = s * np.clip(np.round(weight / safe), -1, 1)
    ids = grouping.ids((weight.shape[0], weight.shape[1]), transposed)
    length = np.bincount(ids.ravel())[ids]
    columns = np.broadcast_to(np.arange(weight.shape[1]) // GROUP, weight.shape)
    one = _Seen(weight, projected, s, right, np.zeros(weight.shape, dtype=bool), columns, length)
    return _Seen(weight, projected, s, right, one.off(right), columns, length)


def _parts(one: _Seen) -> Iterator[tuple[str, Mask]]:
    """Parts in words, the likelier first; the same ones, in the same order, of every answer."""
    shape = out, width = one.weight.shape
    rows, columns = np.indices(shape)
    last = one.group == one.group.max()
    yield "weights of a last group that is shorter than 128", one.length < GROUP
    yield "weights of rows shorter than 128", np.full(shape, width < GROUP)
    yield "weights of the first group of a row", one.group == 0
    yield "weights of the last group of a row", last
    yield "weights of the last of several groups", last & (one.group > 0)
    yield "weights of groups behind the first", one.group > 0
    yield "weights of every other group", np.asarray(one.group % 2 == 1)
    yield "weights of the first input", columns == 0
    yield "weights of the last input", columns == width - 1
    yield "weights of the first output", rows == 0
    yield "weights of the last output", rows == out - 1
    yield "the first weights of groups", columns % GROUP == 0
    yield "the last weights of groups", (columns % GROUP == GROUP - 1) | (columns == width - 1)
    yield "weights of all outputs but the first", np.asarray(rows > 0)
    for word, places, count in (("input", columns, width), ("output", rows, out)):
        for unit in _UNITS:
            yield (
                f"weights of {word}s behind the last multiple of {unit}",
                np.asarray(places >= count // unit * unit),
            )
            yield f"every {unit}th {word}'s weights", np.asarray(places % unit == unit - 1)
        for border in _BORDERS:
            yield f"weights of {word}s from {border} on", np.asarray(places >= border)
    for border in (2, 4, 8, 16):
        yield f"weights of groups from {border} on", one.group >= border
    yield "negative weights", one.weight < 0
    yield "positive weights", one.weight > 0
    yield "negative weights that should become -s", one.right < 0
    yield "positive weights that should become s", one.right > 0
    yield "weights that should become 0", one.right == 0
    yield "weights that should become ±s", one.right != 0
    yield "weights beyond 1.5·s", np.abs(one.weight) > 1.5 * one.s
    yield "weights below s", np.abs(one.weight) < one.s
    yield "weights beyond 1", np.abs(one.weight) > 1.0
    yield "weights of groups with s above 1", one.s > 1.0
    yield "weights of groups with s below 1", one.s < 1.0
    yield "weights of odd numbers of outputs", np.full(shape, out % 2 == 1)
    yield "weights of the last of an odd number of outputs", np.asarray((rows == out - 1) & (out % 2 == 1))
    yield "negative weights beyond 1.5·s", one.weight < -1.5 * one.s
    yield "positive weights beyond 1.5·s", one.weight > 1.5 * one.s
    yield "weights of more outputs than inputs", np.full(shape, out > width)


def _becomes(one: _Seen, what: str) -> Array:
    """The weights of an answer if all of them became that."""
    return _BECOMES[what](one)


def _ratio(one: _Seen) -> Array:
    """W/s."""
    return np.asarray(one.weight / np.where(one.s > 0, one.s, 1.0))


def _scaled(scale: Any, weight: Array) -> Array:
    """The nearest levels of another scale."""
    scale = np.broadcast_to(scale, weight.shape)
    return np.asarray(scale * np.clip(np.round(weight / np.where(scale > 0, scale, 1.0)), -1, 1))


def _before(one: _Seen) -> npt.NDArray[np.int64]:
    """The input of the group before, for each."""
    columns = np.arange(one.weight.shape[1])
    return np.where(columns >= GROUP, columns - GROUP, columns)


def _largest(one: _Seen) -> Array:
    """The nearest levels of max|W|."""
    largest = np.zeros_like(one.weight)
    for start in range(0, one.weight.shape[1], GROUP):
        part = slice(start, start + GROUP)
        largest[:, part] = np.abs(one.weight[:, part]).max(axis=1, keepdims=True)
    return _scaled(largest, one.weight)


#: What weights become in place of their projection, in words.
_BECOMES: dict[str, Callable[[_Seen], Array]] = {
    "become 0": lambda one: np.zeros_like(one.weight),
    "stay as they are": lambda one: one.weight,
    "come out with the other sign": lambda one: -one.right,
    "become ±s, and none 0": lambda one: one.s * np.sign(one.weight),
    "become levels without a scale": lambda one: np.sign(one.right),
    "lose their sign": lambda one: np.abs(one.right),
    "get the scale of the whole row": lambda one: _scaled(
        np.abs(one.weight).mean(axis=1, keepdims=True), one.weight
    ),
    "get the scale of the whole matrix": lambda one: _scaled(np.abs(one.weight).mean(), one.weight),
    "get the sum of |W| over 128 as their scale": lambda one: _scaled(one.s * one.length / GROUP, one.weight),
    "get the largest |W| of their group as their scale": _largest,
    "are twice as large": lambda one: 2.0 * one.right,
    "are half as large": lambda one: 0.5 * one.right,
    "are cut off to the level towards zero": lambda one: one.s * np.clip(np.trunc(_ratio(one)), -1, 1),
    "go to the level above": lambda one: one.s * np.clip(np.ceil(_ratio(one)), -1, 1),
    "go to the level below": lambda one: one.s * np.clip(np.floor(_ratio(one)), -1, 1),
    "are not clipped: levels past ±1": lambda one: one.s * np.round(_ratio(one)),
    "repeat the group before": lambda one: one.right[:, _before(one)],
    "repeat the first group": lambda one: one.right[:, np.arange(one.weight.shape[1]) % GROUP],
    "get the scale of the group before": lambda one: _scaled(one.s[:, _before(one)], one.weight),
    "are |W|": lambda one: np.abs(one.weight),
    "are cut to ±s, and not rounded": lambda one: one.s * np.clip(_ratio(one), -1, 1),
    "are rounded to halves of s": lambda one: one.s * np.clip(np.round(2.0 * _ratio(one)), -2, 2) / 2.0,
}
