"""What wrong projections are said to be: mistakes in a dozen lines, each with the words that must name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.tasks.ternary_training.causes import cause
from judge_tui.checks.tasks.ternary_training.draws import Draw, mixed
from judge_tui.checks.tasks.ternary_training.explained import explained
from judge_tui.checks.tasks.ternary_training.grouping import groupings
from judge_tui.checks.tasks.ternary_training.levels import LIMIT, Answer, settled

Array = npt.NDArray[Any]
Mistake = Callable[[Array], Array]

GROUP = 128
SHAPES = ((12, 128), (12, 128), (12, 384), (9, 342), (8, 170), (9, 58), (133, 30), (7, 256))


def told(mistake: Mistake) -> str:
    """What is said of a wrong projection."""
    answers = []
    for number, shape in enumerate(SHAPES):
        weight = mixed(np.random.default_rng(number), shape)
        answers.append(Answer(Draw("drawn", weight, even=shape[1] % GROUP == 0), mistake(weight)))
    grouping, off = settled(answers, transposed=False)
    if max(off) > LIMIT:
        return cause(answers, transposed=False)
    return explained([(a.draw.weight, a.projected) for a in answers], grouping, transposed=False)


def ratios(weight: Array) -> tuple[Array, Array]:
    """S of each weight, and W/s."""
    s = np.empty_like(weight)
    for at in range(0, weight.shape[1], GROUP):
        s[:, at : at + GROUP] = np.abs(weight[:, at : at + GROUP]).mean(axis=1, keepdims=True)
    return s, weight / s


def right(weight: Array) -> Array:
    """The projection."""
    s, ratio = ratios(weight)
    return np.asarray(s * np.clip(np.round(ratio), -1, 1))


def levels(rule: Callable[[Array], Array]) -> Mistake:
    """Other levels of the right scale."""

    def mistake(weight: Array) -> Array:
        s, ratio = ratios(weight)
        return np.asarray(s * rule(ratio))

    return mistake


def scaled(rule: Callable[[Array], Any]) -> Mistake:
    """Another scale of each group, by a function of |W| (out, group)."""

    def mistake(weight: Array) -> Array:
        made = np.empty_like(weight)
        for at in range(0, weight.shape[1], GROUP):
            part = weight[:, at : at + GROUP]
            s = np.asarray(rule(np.abs(part))).reshape(-1, 1)
            made[:, at : at + GROUP] = s * np.clip(np.round(part / s), -1, 1)
        return made

    return mistake


def behind(mistake: Mistake) -> Mistake:
    """Another projection of what is behind the last whole group."""

    def made(weight: Array) -> Array:
        whole = weight.shape[1] // GROUP * GROUP
        return np.concatenate([right(weight)[:, :whole], mistake(weight)[:, whole:]], axis=1)

    return made


def grouped(of: Callable[[Array], Array], back: Callable[[Array, tuple[int, ...]], Array]) -> Mistake:
    """The projection of other groups: rows of 128 weights that are made of a padded matrix, and put back."""

    def mistake(weight: Array) -> Array:
        padded = np.pad(weight, ((0, 0), (0, -weight.shape[1] % GROUP)))
        rows = of(padded)
        s = np.abs(rows).sum(axis=1, keepdims=True) / np.maximum((rows != 0).sum(axis=1, keepdims=True), 1)
        made = s * np.clip(np.round(rows / np.where(s > 0, s, 1.0)), -1, 1)
        return back(made, padded.shape)[:, : weight.shape[1]]

    return mistake


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (
            grouped(lambda w: w.reshape(GROUP, -1).T, lambda rows, shape: rows.T.reshape(shape)),
            "as far apart as there are groups of all outputs, not side by side",
        ),
        (
            grouped(
                lambda w: w.reshape(len(w), GROUP, -1).swapaxes(1, 2).reshape(-1, GROUP),
                lambda rows, shape: rows.reshape(shape[0], -1, GROUP).swapaxes(1, 2).reshape(shape),
            ),
            "as far apart as there are groups of an output, not side by side",
        ),
        (lambda w: np.roll(right(w), 1, axis=0), "outputs: moved by 1 towards the end"),
        (lambda w: right(w)[::-1], "outputs: in reverse order"),
        (lambda w: right(w).ravel(order="F").reshape(w.shape), "flattened by columns"),
        (behind(np.zeros_like), "shorter than 128 alone are wrong: they become 0"),
        (behind(lambda w: w), "shorter than 128 alone are wrong: they stay as they are"),
        (levels(lambda r: np.clip(np.floor(r), -1, 1)), "become s from 1·s on, negative"),
        (levels(lambda r: np.abs(np.clip(np.round(r), -1, 1))), "all of them lose their sign"),
        (levels(lambda r: np.clip(r, -1, 1)), "all of them are cut to ±s, and not rounded"),
        (levels(lambda r: np.where(np.abs(r) > 2.5, 0, np.clip(np.round(r), -1, 1))), "2.5·s become 0"),
        (levels(lambda r: np.where(r < -1.5, 0, np.clip(np.round(r), -1, 1))), "weights beyond 1.5·s alone"),
        (levels(lambda r: np.clip((np.round(r) + 1) % 4 - 1, -1, 1)), "of W/s, rounded, -2 becomes 1"),
        (lambda w: levels(np.sign)(w) * (np.abs(w) > 0.05), "levels change at |W| = 0.05, whatever s is"),
        (lambda w: levels(np.sign)(w) * (np.abs(w) > 0.5 * np.abs(w).mean()), "one scale for the whole"),
        (scaled(lambda a: a[:, :16].mean(axis=1)), "the first 16 weights of its group"),
        (scaled(lambda a: a.mean(axis=1) + 1e-3), "mean|W| of its group and 0.001"),
        (scaled(lambda a: np.maximum(a.mean(axis=1), 0.5)), "0.5 at least"),
        (scaled(lambda a: a.sum(axis=1) / 127), "over 127, whatever its length is"),
        (scaled(lambda a: a.mean(axis=1).astype(np.float16).astype(float)), "in half precision"),
        (scaled(lambda a: 2.0 ** np.round(np.log2(a.mean(axis=1)))), "rounded to a power of two"),
        (scaled(lambda a: 1.5 * a.mean(axis=1)), "1.5 times mean|W|"),
        (lambda w: right(right(w)), "projected already: it is done twice"),
        (lambda w: right(mixed(np.random.default_rng(1), w.shape)), "the same whatever the weights are"),
    ],
)  # fmt: skip
def test_a_wrong_projection_is_named(mistake: Mistake, words: str) -> None:
    assert words in told(mistake)


def test_ties_of_either_side_are_right() -> None:
    weight = np.tile([0.5, 1.0, 1.0, 1.5], (4, 32))
    lower, upper = np.where(weight == 0.5, 0.0, 1.0), np.ones_like(weight)
    for projected in (lower, upper):
        assert not explained([(weight, projected)], groupings(False, GROUP)[0], transposed=False).count(
            "alone"
        )
