"""What is told of the expression that raised: its operands, read without calling anything."""

import traceback

import numpy as np
import pytest

from judge_tui.checks.worker.operands import operands


class Pool:
    def __init__(self):
        self.blocks = {0: [1, 2]}

    @property
    def loud(self):
        raise AssertionError("a property was called")


def entry(kept, k):
    return kept[k]


def padded(w, rows):
    return np.pad(w, ((0, rows), (0, 0)))


def next_block(pool, at):
    return pool.blocks[0][at]


def over(total, count):
    return total / count


def after_letters(given, at):
    return "λ²" and given[at]


def loud(pool):
    return pool.loud + missing  # noqa: F821


def many(values):
    return sum(
        one
        for one in values
        if one.nothing_of_that_name_and_so_on_for_more_than_eighty_characters_of_the_line_and_more
    )


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ((entry, [[], []], 3), "`kept[k]`, len(kept) = 2, k = 3"),
        ((entry, {}, "layer"), "`kept[k]`, len(kept) = 0, k = 'layer'"),
        (
            (padded, np.zeros((4, 2), np.float32), -3),
            "`np.pad(w, ((0, rows), (0, 0)))`, w is float32 (4, 2), rows = -3",
        ),
        (
            (next_block, Pool(), 5),
            "`pool.blocks[0][at]`, pool.blocks[0] = [1, 2], len(pool.blocks) = 1, at = 5",
        ),
        ((after_letters, [1], 2), "`given[at]`, given = [1], at = 2"),
        ((over, 10**5000, 0), "`total / count`, count = 0"),
        ((over, 7, 0), "`total / count`, total = 7, count = 0"),
        ((over, "x" * 100, np.int64(0)), "`total / count`, count = 0"),
    ],
)
def test_operands_are_told(call, told):
    assert where(*call) == told


def test_what_says_nothing_is_left_out():
    assert where(loud, Pool()) == ""
    assert where(many, [1]) == ""


def where(function, *args):
    try:
        function(*args)
    except Exception as error:
        trace = error.__traceback__.tb_next
        frames = traceback.extract_tb(trace)
        here = max(at for at, frame in enumerate(frames) if frame.filename == __file__)
        for _ in range(here):
            trace = trace.tb_next
        return operands(frames[here], trace.tb_frame)
    raise AssertionError("it raised nothing")
