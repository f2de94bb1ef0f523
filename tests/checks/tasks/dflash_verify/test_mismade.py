"""A known mistake is told of masks that it gives, and of no right ones, nor of ones that nothing gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from judge_tui.checks.tasks.dflash_verify.masks import Matrix
from judge_tui.checks.tasks.dflash_verify.mismade import Made, explained
from judge_tui.checks.tasks.dflash_verify.mismade_nodes import AMONG_NODES
from judge_tui.checks.tasks.dflash_verify.trees import visibility


def _drawn(tree: Callable[[tuple[int, ...]], Matrix] | None = None) -> list[Made]:
    """Masks of chains and of forests, whose nodes see each other by a formula."""
    rng, masks = np.random.default_rng(3), list[Made]()
    for size in (1, 2, 3, 4, 7, 9, 12, 20):
        forest = tuple(int(rng.integers(-1, node)) if node else -1 for node in range(size))
        for parents in (forest, tuple(range(-1, size - 1))):
            prompt_len = int(rng.integers(1, 6))
            mask = visibility(prompt_len, parents)
            if tree is not None:
                mask[prompt_len:, prompt_len:] = tree(parents)
            masks.append(Made(prompt_len, parents, mask))
    return masks


@pytest.mark.parametrize("words", AMONG_NODES)
def test_each_formula_is_told_by_its_words(words: str) -> None:
    for formula in AMONG_NODES[words]:
        told = explained(_drawn(formula))
        assert words in told or (words.startswith("nodes see all that are listed") and "causal" in told)


def test_right_masks_and_masks_at_random_are_of_no_mistake() -> None:
    rng = np.random.default_rng(4)
    assert explained(_drawn()) == ""
    assert explained(_drawn(lambda parents: rng.random((len(parents),) * 2) < 0.5)) == ""


def test_a_closure_that_ends_too_soon_names_trees_for_which_it_does() -> None:
    def short(parents: tuple[int, ...]) -> Matrix:
        depths = [0] * len(parents)
        for node, parent in enumerate(parents):
            depths[node] = depths[parent] + 1 if parent >= 0 else 0
        above = np.subtract.outer(depths, depths)
        return np.asarray(visibility(0, parents) & (above <= len(parents) // 2))

    told = explained(_drawn(short))
    assert "a closure that ends too soon (1 of 2 in a tree of 3, 2 of 3 in a tree of 4" in told


def test_mistakes_of_two_parts_are_both_told() -> None:
    masks = _drawn(lambda parents: np.eye(len(parents), dtype=bool))
    for made in masks:
        made.visible[: made.prompt_len, : made.prompt_len] = True
    told = explained(masks)
    assert "no node sees any other" in told
    assert "the prompt sees the whole of itself" in told
