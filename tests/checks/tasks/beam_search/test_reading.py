"""Beams are read from lists and dicts with attributes as from others."""

from __future__ import annotations

from typing import Any

import pytest

from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.beam_search.oracle import Hyp
from judge_tui.checks.tasks.beam_search.reading import read, settle
from judge_tui.checks.worker.attributed import attributed

EOS, PROMPT = 0, (7, 8)
TRUTH = [Hyp((3, EOS), -1.0), Hyp((4, 5), -2.0)]


def _with(items: Any, **attributes: Any) -> Any:
    return attributed(items, attributes)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (
            [[_with([3], length=2, score=-0.5), _with([4, 5], length=2, score=-1.0)]],
            [[_with([], length=1, score=-0.5)], [_with([6, 6, 6], length=3, score=-0.25)]],
        ),
        (
            [_with([_with([3], score=-0.5), _with([4, 5], score=-1.0)], steps=2)],
            [_with([_with([], score=-0.5)], steps=1), _with([_with([6, 6, 6], score=-0.25)], steps=3)],
        ),
        (
            [[_with({"tokens": [3]}, score=-0.5), _with({"tokens": [4, 5]}, score=-1.0)]],
            [[_with({"tokens": []}, score=-0.5)], [_with({"tokens": [6, 6, 6]}, score=-0.25)]],
        ),
        (
            [[_with([[3], True], score=-0.5), _with([[4, 5], False], score=-1.0)]],
            [[_with([[], True], score=-0.5)], [_with([[6, 6, 6], False], score=-0.25)]],
        ),
        (
            _with([[[3], [4, 5]]], scores=[[-0.5, -1.0]]),
            _with([[[]], [[6, 6, 6]]], scores=[[-0.5], [-0.25]]),
        ),
        (
            [_with([[3], [4, 5]], scores=[-0.5, -1.0])],
            [_with([[]], scores=[-0.5]), _with([[6, 6, 6]], scores=[-0.25])],
        ),
    ],
)
def test_scores_may_be_attributes(first: Any, later: Any) -> None:
    form, beams = settle(first, PROMPT, 1.0, EOS, TRUTH)
    assert beams[0].tokens == (3, EOS)
    assert [beam.score for beam in beams] == [-0.5, -1.0]
    found = read(later, form, [PROMPT, (9,)], 3, EOS)
    assert [[(beam.tokens, beam.score) for beam in beams] for beams in found] == [
        [((EOS,), -0.5)],
        [((6, 6, 6), -0.25)],
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_lengths_say_where_a_row_s_padding_begins(order: tuple[int, int, int]) -> None:
    def told(*columns: Any) -> list[Any]:
        return [columns[i] for i in order]

    form, beams = settle(
        told([[[3, EOS, 9], [4, 5, 9], [9, 9, 9]]], [[-0.5, -1.0, -float("inf")]], [[2, 2, 0]]),
        PROMPT, 1.0, EOS, TRUTH,
    )  # fmt: skip
    assert [(beam.tokens, beam.score) for beam in beams] == [((3, EOS), -0.5), ((4, 5), -1.0)]
    one = told([[6, 6, 6], [9, 9, 9]], [-0.25, -float("inf")], [3, 0])
    other = told([[EOS, 9, 9], [9, 9, 9]], [-0.5, -0.75], [1, 0])
    found = read([one, other], form, [PROMPT, (9,)], 3, EOS)
    assert [[beam.tokens for beam in beams] for beams in found] == [[(6, 6, 6)], [(EOS,), ()]]


def test_a_search_without_steps_keeps_its_empty_beams() -> None:
    form, _beams = settle([[[[3, EOS], [4, 5]]], [[-0.5, -1.0]], [[2, 2]]], PROMPT, 1.0, EOS, TRUTH)
    (beams,) = read([[[[]]], [[-float("inf")]], [[0]]], form, [PROMPT], 0, EOS)
    assert [beam.tokens for beam in beams] == [()]


def test_beams_of_all_prompts_may_be_one_list() -> None:
    beams = [{"tokens": [3], "score": -0.5}, {"tokens": [4, 5], "score": -1.0}]
    form, _beams = settle(beams, PROMPT, 1.0, EOS, TRUTH)
    prompts = [PROMPT, (9,), (8,)]
    told = [{"prompt": n, "tokens": [n + 1], "score": -1.0} for n in (2, 0, 0, 1)]
    wanted = [[(1, EOS), (1, EOS)], [(2, EOS)], [(3, EOS)]]
    for value, lists in ((told, wanted), (beams * 3, [[(3, EOS), (4, 5, EOS)]] * 3)):
        found = read(value, form, prompts, 3, EOS)
        assert [[beam.tokens for beam in beams] for beams in found] == lists


@pytest.mark.parametrize(
    "value",
    [
        [[[[7, 8, 3, EOS, 9], [7, 8, 4, 5, 9]]], [[-0.5, -1.0]], [[2, 2]]],
        [[[[3, EOS], [4, 5]]], [[-0.5, -1.0]], [[1, 0]]],
        [[[[3, EOS], [4, 5]]], [[-0.5, -1.0]], [[3, 1]]],
    ],
    ids=["generated lengths, prompt in front", "flags", "too long"],
)
def test_numbers_that_leave_tokens_over_are_no_lengths(value: Any) -> None:
    with pytest.raises(BadResult):
        settle(value, PROMPT, 1.0, EOS, TRUTH)


def test_a_dict_of_beams_is_no_beam_though_it_names_its_prompt() -> None:
    def told(number: int, beams: list[Any]) -> dict[str, Any]:
        return {"prompt_id": number, "prompt_tokens": [7, 8], "beams": beams}

    first = [{"tokens": [3], "score": -0.5}, {"tokens": [4, 5], "score": -1.0}]
    form, _beams = settle([told(0, first)], PROMPT, 1.0, EOS, TRUTH)
    found = read([told(0, first), told(1, first[::-1])], form, [PROMPT, PROMPT], 3, EOS)
    assert [[beam.tokens for beam in beams] for beams in found] == [
        [(3, EOS), (4, 5, EOS)],
        [(4, 5, EOS), (3, EOS)],
    ]
