"""Whatever takes a place in the row of all candidates apart inexactly is wrong at some V that is searched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.specimens import judged, specimens
from judge_tui.checks.task import load_task
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, beam_search
from judge_tui.checks.tasks.beam_search.parents import SIZES, scripted

TASK = load_task("beam_search")
SPECIMENS = {each.name: each for each in specimens(Path(__file__).parent, TASK)}

INEXACT: dict[str, Callable[[Any, int], Any]] = {
    "a product with 1 / V of float32": lambda places, base: places * np.float64(np.float32(1) / base),
    "a product in float32": lambda places, base: places.astype(np.float32) * np.float32(1 / base),
    "a product with 1 / V in float64": lambda places, base: places * (1.0 / base),
    "a division in float16": lambda places, base: places.astype(np.float16) / np.float16(base),
    "places of 16 bits": lambda places, base: places.astype(np.int16).astype(int) // base,
    "places of 16 bits, unsigned": lambda places, base: places.astype(np.uint16).astype(int) // base,
    "places from one": lambda places, base: np.ceil(places / base) - 1,
    "rounding": lambda places, base: np.rint(places / base),
    "a shift": lambda places, base: places >> int(np.log2(base)),
}


@pytest.mark.parametrize("spelling", INEXACT)
def test_inexact_arithmetic_is_wrong_at_several_sizes_that_are_searched(spelling: str) -> None:
    wrong = 0
    for vocab, width in SIZES:
        beams = np.arange(width)
        places = np.concatenate([beams * vocab, beams * vocab + vocab - 1])
        with np.errstate(all="ignore"):
            parents = np.floor(INEXACT[spelling](places, vocab))
        wrong += not np.array_equal(parents, np.concatenate([beams, beams]))
    assert wrong >= 3


@pytest.mark.parametrize("times", [1, 2])
def test_where_each_beam_has_its_k_best_there_too(times: int) -> None:
    firsts = [(np.arange(width), times * width) for vocab, width in SIZES if times * width <= vocab]
    for spelling in ("a product with 1 / V of float32", "a product in float32"):
        wrong = [
            base for beams, base in firsts if (np.floor(INEXACT[spelling](beams * base, base)) != beams).any()
        ]
        assert wrong, spelling


@pytest.mark.parametrize(("vocab", "width"), [(6, 4), (25, 3), (49, 3), (257, 3), (101, 49), (32_000, 3)])
def test_every_right_search_extends_each_beam_by_the_first_token_and_then_by_the_last(
    vocab: int, width: int
) -> None:
    model = scripted(np.random.default_rng(3), vocab, width)
    for variant in VARIANTS:
        found = beam_search(model.script.rows, model.prompt, width, 3, 0.0, model.script.eos, variant)
        assert [hyp.tokens for hyp in found.hyps] == model.texts(3)
        assert [hyp.tokens[1:] for hyp in found.hyps] == [(0, vocab - 1)] * width
        assert found.margin > 0.05


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "parent_by_reciprocal",
            "V = 25, K = 3: the parent of token 0 is read as beam 1 and not 2; wrong at V =",
        ),
        ("tokens_of_16_bits", "V = 65537, K = 3: token 65536 of beam 0 is read as token 0"),
        ("places_of_32_bits_as_float", "V = 41, K = 3: returned token 41, outside the vocabulary of 41"),
    ],
)
def test_what_is_read_wrong_is_told_with_its_vocabulary(name: str, told: str) -> None:
    wanted = replace(SPECIMENS[name], expected={"edge_cases": frozenset()})
    outcome = judged(wanted, TASK, seed=5)["edge_cases"]
    assert told in outcome.summary
