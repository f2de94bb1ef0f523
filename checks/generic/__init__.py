"""Checks that hold for every task."""

from collections.abc import Sequence

from judge_tui.checks.check import Check
from judge_tui.checks.generic.loads import loads
from judge_tui.checks.generic.own_tests import own_tests
from judge_tui.checks.generic.purity import purity
from judge_tui.checks.generic.size import size
from judge_tui.checks.generic.throughput import throughput

__all__ = ["GENERIC", "loads", "own_tests", "purity", "size", "throughput", "with_generic"]

GENERIC = (loads, size, purity, throughput, own_tests)


def with_generic(*own: Check, instead: Sequence[Check] = ()) -> tuple[Check, ...]:
    """A task's checks in the order in which they run: the quickest first, the submission's own tests last.

    Args:
        own: The checks of the task itself.
        instead: Checks under a generic id that stand in its place, for submissions in another language.
    """
    replaced = {check.id: check for check in instead}
    every = (size, loads, purity, *own, throughput, own_tests)
    return tuple(replaced.get(check.id, check) for check in every)
