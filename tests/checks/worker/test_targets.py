"""The scripted target model gives each position the row of the path that it sees, however it is asked."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.tasks.dflash_verify.trees import Tree, visibility
from judge_tui.checks.worker.scripted.models import rows_of
from judge_tui.checks.worker.scripted.targets import Target, visible

ROWS = rows_of({"kind": "prefix", "seed": 5, "vocab_size": 9, "scale": 1.0})
TREES = {
    0: Tree((), ()),
    1: Tree((4,), (-1,)),
    4: Tree((4, 2, 7, 1), (-1, 0, 0, 2)),
    6: Tree((4, 3, 3, 8, 2, 2), (-1, -1, 1, 0, 2, 1)),
}
SIZES = list(itertools.product((1, 2, 4), TREES))


def expected(prompt: list[int], tree: Tree) -> np.ndarray:
    texts = [prompt[: i + 1] for i in range(len(prompt))]
    texts += [[*prompt, *tree.text(tree.path(node))] for node in range(len(tree))]
    return np.array([ROWS.row(text) for text in texts])


def case(prompt_len: int, size: int) -> tuple[list[int], Tree, np.ndarray, np.ndarray]:
    prompt = [6, 0, 5, 3][:prompt_len]
    tree = TREES[size]
    return prompt, tree, visibility(prompt_len, tree.parents), expected(prompt, tree)


@pytest.mark.parametrize(("prompt_len", "size"), SIZES)
@pytest.mark.parametrize("written", ["bool", "int", "additive", "inverted", "lists"])
def test_every_way_to_write_a_mask_is_read(prompt_len: int, size: int, written: str) -> None:
    prompt, tree, mask, wanted = case(prompt_len, size)
    form: Any = {
        "bool": mask,
        "int": mask.astype(int),
        "additive": np.where(mask, 0.0, -1e9),
        "inverted": ~mask,
        "lists": mask.tolist(),
    }[written]
    if written == "additive" and mask.all():
        return  # all zeros: nothing is hidden
    tokens = np.array([*prompt, *tree.tokens])
    assert np.allclose(Target(ROWS)(tokens, form), wanted)
    assert np.allclose(Target(ROWS).forward(tokens[None], np.asarray(form)[None]), wanted[None])
    assert np.allclose(Target(ROWS).logits(list(tokens), attention_mask=np.asarray(form)[None, None]), wanted)


@pytest.mark.parametrize(("prompt_len", "size"), SIZES)
def test_prompt_and_tree_may_come_apart(prompt_len: int, size: int) -> None:
    prompt, tree, mask, wanted = case(prompt_len, size)
    tokens = np.array(tree.tokens, dtype=int)
    assert np.allclose(Target(ROWS)(prompt, list(tree.tokens), mask), wanted)
    assert np.allclose(Target(ROWS)(np.array(prompt), tokens, mask=mask), wanted)
    assert np.allclose(Target(ROWS)(prompt, list(tree.tokens), list(tree.parents)), wanted)
    assert np.allclose(Target(ROWS)(prompt, tokens, tree_parents=np.array(tree.parents, dtype=int)), wanted)
    without = [None if p < 0 else p for p in tree.parents]
    assert np.allclose(Target(ROWS)(prompt, list(tree.tokens), without), wanted)
    if size:
        assert np.allclose(Target(ROWS)([*prompt, *tree.tokens], list(tree.parents)), wanted)
        assert np.allclose(Target(ROWS)([*prompt, *tree.tokens], mask[prompt_len:]), wanted)
        assert np.allclose(Target(ROWS)([*prompt, *tree.tokens], mask[prompt_len:, prompt_len:]), wanted)


@pytest.mark.parametrize(("prompt_len", "size"), SIZES)
def test_places_by_depth_change_nothing_and_places_by_index_do(prompt_len: int, size: int) -> None:
    prompt, tree, mask, wanted = case(prompt_len, size)
    tokens, depth = np.array([*prompt, *tree.tokens]), mask.sum(axis=1) - 1
    assert np.allclose(Target(ROWS)(tokens, mask, depth), wanted)
    assert np.allclose(Target(ROWS)(tokens, attn_bias=np.where(mask, 0, -np.inf), position_ids=depth), wanted)
    index = np.arange(len(tokens))
    assert np.allclose(Target(ROWS)(tokens, mask=mask, positions=index), wanted) == np.array_equal(
        index, depth
    )


def test_parents_beside_a_mask_say_nothing_new_and_other_integers_are_refused() -> None:
    prompt, tree, mask, wanted = case(2, 4)
    tokens = [*prompt, *tree.tokens]
    assert np.allclose(Target(ROWS)(tokens, mask, list(tree.parents)), wanted)
    assert np.allclose(Target(ROWS)(prompt, list(tree.tokens), mask, np.array(tree.parents)), wanted)
    assert np.allclose(Target(ROWS)(tokens, mask, np.array(2), 0.0, None), wanted)
    with pytest.raises(TypeError, match="further integers"):
        Target(ROWS)(tokens, mask, [0, 1, 1, 2])


def test_a_position_that_sees_a_sibling_gets_another_row() -> None:
    prompt, tree, mask, wanted = case(2, 4)
    mask[3, 4] = True
    changed = ~np.isclose(Target(ROWS)([*prompt, *tree.tokens], mask), wanted).all(axis=1)
    assert changed.tolist() == [False, False, False, True, False, False]


def test_without_a_mask_it_is_asked_for_sequences() -> None:
    assert np.allclose(Target(ROWS)([6, 0]), ROWS.row([6, 0]))
    assert np.allclose(Target(ROWS, "all")([6, 0]), [ROWS.row([6]), ROWS.row([6, 0])])
    batch = np.array([[6, 0, 1], [6, 2, 0]])
    assert np.allclose(Target(ROWS)(batch), [ROWS.row([6, 0, 1]), ROWS.row([6, 2, 0])])


def test_what_it_cannot_read_it_refuses() -> None:
    for call in (
        (),
        ([1, 2], [3]),
        ([1, 2, 3], np.ones((2, 5), bool)),
        ([1], np.ones(3)),
        ([1], {1: 2}.items()),
    ):
        with pytest.raises(TypeError, match="scripted target model"):
            Target(ROWS)(*call)


def test_answers_come_in_every_style() -> None:
    tokens, mask = [6, 0], np.tri(2, dtype=bool)
    wanted = expected(tokens, TREES[0])
    output = Target(ROWS, "all output")(tokens, mask)
    assert np.allclose(output.logits, wanted)
    assert np.allclose(output["logits"], wanted)
    assert np.allclose(Target(ROWS, "all pair")(tokens, mask)[0], wanted)
    assert isinstance(Target(ROWS, "all list")(tokens, mask), list)
    assert Target(ROWS, "all batched")(tokens, mask).shape == (1, 2, 9)


def test_a_mask_of_one_position_is_seen_either_way() -> None:
    for mask in (np.array([[True]]), np.array([[0.0]]), np.array([[1.0]])):
        assert visible(mask).tolist() == [[True]]


@pytest.mark.parametrize(("prompt_len", "size"), SIZES)
def test_only_the_rows_that_are_wanted_are_given(prompt_len: int, size: int) -> None:
    prompt, tree, mask, wanted = case(prompt_len, size)
    tokens, last = [*prompt, *tree.tokens], range(prompt_len - 1, prompt_len + size)
    told = Target(ROWS)(tokens, visible=mask, rows=last)
    assert np.allclose(told, wanted[prompt_len - 1 :])
    target = Target(ROWS)
    target.told(prompt_len)
    assert np.allclose(target(tokens, mask, np.array(last)), wanted[-len(last) :])


@pytest.mark.parametrize(("prompt_len", "size"), SIZES)
@pytest.mark.parametrize("style", ["last prefixed", "all prefixed", "last pair", "all pair"])
def test_a_prompt_may_go_in_first(prompt_len: int, size: int, style: str) -> None:
    prompt, tree, mask, wanted = case(prompt_len, size)
    target = Target(ROWS, style)
    first, prefix = target.prefill(prompt)
    assert np.allclose(first, wanted[:prompt_len] if "all" in style else wanted[prompt_len - 1])
    assert (len(prefix), prefix.length, prefix.seq_len) == (prompt_len, prompt_len, prompt_len)
    if size:
        places = [prompt_len + len(tree.path(node)) - 1 for node in range(size)]
        rows = target.score_tree(prefix, tree.tokens, positions=places, visible=mask[prompt_len:])
        assert np.allclose(rows[0] if "pair" in style else rows, wanted[prompt_len:])


def test_a_chain_may_go_on_behind_a_prompt() -> None:
    target = Target(ROWS, "last pair")
    _row, prefix = target([6, 0])
    row, prefix = target([5], prefix)
    assert np.allclose(row, ROWS.row([6, 0, 5]))
    assert len(prefix) == 3
    with pytest.raises(AttributeError, match="has no 'heads'"):
        prefix.heads  # noqa: B018


def test_rows_behind_a_prompt_are_counted_from_where_they_can_be() -> None:
    prompt, tree, mask, wanted = case(4, 6)
    target = Target(ROWS, "last prefixed")
    _row, state = target(prompt)
    tree_mask = mask[4:]
    for rows in ([0, 1, 2], [7, 8, 9]):
        told = target(tree.tokens, cache=state, mask=tree_mask, rows=rows)
        assert np.allclose(told, wanted[4:7] if rows[0] == 0 else wanted[7:])
    for rows in ([3, 4], [12], [0, 9]):
        with pytest.raises(TypeError, match="rows"):
            target(tree.tokens, cache=state, mask=tree_mask, rows=rows)


def test_places_of_queries_are_places() -> None:
    prompt, tree, mask, wanted = case(4, 6)
    depths = [*range(4), *(3 + len(tree.path(node)) for node in range(6))]
    assert np.allclose(Target(ROWS)([*prompt, *tree.tokens], mask, query_positions=depths), wanted)


def test_a_tree_behind_several_prompts_is_refused() -> None:
    target = Target(ROWS, "last pair")
    _rows, state = target([[6, 0], [6, 1]])
    assert len(state.rows) == 2
    with pytest.raises(TypeError, match="several sequences"):
        target([4, 2], cache=state, mask=np.tri(2, 4, 2, dtype=bool))
    with pytest.raises(TypeError, match="several sequences"):
        Target(ROWS, "last prefixed")([[6, 0], [6, 1]])
