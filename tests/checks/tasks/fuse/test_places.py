"""Places of a row whose logit never comes out are told by what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from judge_tui.checks.tasks.fuse.places import told_of

LENGTHS = (50, 100)


def told(lost: Callable[[int], Any]) -> str:
    return told_of({V: np.asarray(lost(V)) for V in LENGTHS})


def halved(V: int, threads: int) -> Any:
    """What a tree of lists loses that drops the one left over, list by list."""
    lists = [set(range(thread, V, threads)) for thread in range(min(V, threads))]
    while len(lists) > 1:
        half = len(lists) // 2
        lists = [lists[at] | lists[at + half] for at in range(half)]
    return [place not in lists[0] for place in range(V)]


def test_a_rest_and_a_last_place_are_told() -> None:
    assert (
        told(lambda V: np.arange(V) >= V // 32 * 32) == "logits behind the last multiple of 32 never come out"
    )
    assert told(lambda V: np.arange(V) == V - 1) == "the last logit of a row never comes out"


def test_lists_that_a_tree_leaves_over_are_told() -> None:
    words = (
        "the lists of {} threads are merged two by two, and where their number is odd the last one's is lost"
    )
    assert told(lambda V: halved(V, 64)) == words.format(64)
    assert told(lambda V: halved(V, 128)) == words.format(128)


def test_places_without_a_rule_are_told_where_they_are_together() -> None:
    assert told(lambda V: (np.arange(V) > 4) & (np.arange(V) < 9)) == (
        "of V = 50 the logits at places 5 to 8 never come out"
    )
    assert told(lambda V: np.isin(np.arange(V), (3, 17, 21))) == ""
