"""The part of an answer that alone is wrong is told by what it is a part of."""

import numpy as np
import pytest

from judge_tui.checks.tasks.flash_attention.regions import regions_told

SHAPES = ((2, 14, 3, 4), (1, 30, 3, 4), (2, 16, 5, 2))


def told(part, value=0.0):
    made = []
    for shape in SHAPES:
        truth = np.random.default_rng(0).standard_normal(shape)
        out = truth.copy()
        part(out)[...] = value
        made.append((out, truth, 2))
    return regions_told(made, [24])


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (
            lambda o: o.reshape(-1, *o.shape[2:])[24:],
            "0 in stacked heads behind the last multiple of 24 alone",
        ),
        (lambda o: o[:, -1], "0 in the last head alone"),
        (lambda o: o[..., 1::2], "0 in columns of odd number alone"),
        (lambda o: o[:, :, o.shape[2] // 2 * 2 :], "0 in rows behind the last whole tile alone"),
        (lambda o: o[..., :0], ""),
        (lambda o: o, ""),
    ],
)
def test_a_part_that_alone_is_wrong_is_told(part, words):
    assert told(part) == words


def test_a_part_that_is_not_0_is_told_as_wrong():
    assert told(lambda o: o[:, -1], 7.0) == "wrong in the last head alone"
    assert told(lambda o: o[:, :, 2:], np.nan) == "not finite in rows behind the first tile alone"
