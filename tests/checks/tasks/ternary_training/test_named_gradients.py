"""What wrong gradients of the latent weights are said to be: what stands for dy or for x in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.tasks.ternary_training.draws import exact_inputs, mixed
from judge_tui.checks.tasks.ternary_training.estimator import cause

Array = npt.NDArray[Any]

OUT, WIDTH, ROWS = 12, 128, 6


def told(mistake: Callable[[Array, Array], Array]) -> str:
    """What is said of a gradient that a mistake makes of dy and x."""
    rng = np.random.default_rng(3)
    weight, x = mixed(rng, (OUT, WIDTH)), exact_inputs(rng, ROWS, WIDTH)
    dy = rng.standard_normal((ROWS, OUT))
    return cause(mistake(dy, x), dy.T @ x, weight, x, dy, False, {"the loss": dy * dy - 1.0})


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda dy, x: np.ones_like(dy).T @ x, "1 stands for dy, whatever it is"),
        (lambda dy, x: dy.T @ np.ones_like(x), "1 stands for x, whatever it is"),
        (lambda dy, x: (dy**2).T @ x, "dy² stands for dy"),
        (lambda dy, x: np.tanh(dy).T @ x, "tanh(dy) stands for dy"),
        (lambda dy, x: dy.T @ np.roll(x, 1, axis=1), "x of the entry before stands for x"),
        (lambda dy, x: dy.T @ np.round(x), "x, rounded to a whole number, stands for x"),
        (lambda dy, x: dy.astype(np.float16).astype(float).T @ x, "dy rounded to float16 stands for it"),
        (lambda dy, x: (dy * dy - 1.0).T @ x, "the loss stands for dy"),
        (
            lambda dy, x: (dy * np.arange(1, OUT + 1)).T @ x,
            "each row of it is multiplied by a number of its own",
        ),
        (lambda dy, x: np.full((OUT, WIDTH), 0.5), "each entry of it is 0.5"),
    ],
)
def test_what_stands_for_an_operand_is_told(mistake: Callable[[Array, Array], Array], words: str) -> None:
    assert told(mistake) == words


def test_nothing_is_told_of_a_gradient_that_no_product_explains() -> None:
    noise = np.random.default_rng(0).standard_normal((OUT, WIDTH))
    assert told(lambda dy, x: dy.T @ x + noise) == ""
