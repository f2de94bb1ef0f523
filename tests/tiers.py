"""Tiers of the tests: what a contributor runs, what CI runs, and what takes an evening.

``quick`` has all that is quick by itself, a mutant and a twin for each check, and the pictures of one size.
It leaves out what ``thorough.txt`` lists: test functions of which a case took :data:`LONG` seconds or more
when ``make tiers`` measured them. ``test`` is everything but campaigns and of :data:`SAMPLED` a part, ``all``
everything, with every check of every specimen, and properties tried on :data:`MORE` examples.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

import pytest

__all__ = [
    "LONG",
    "MORE",
    "NAMES",
    "SAMPLED",
    "WHOLE",
    "Tier",
    "function",
    "listed",
    "measured",
    "of",
    "sorted_out",
]

Tier = Literal["quick", "test", "all"]
NAMES: tuple[str, ...] = get_args(Tier)
#: Seconds from which a test is not quick.
LONG = 0.3
#: Examples of a property in the tier ``all``.
MORE = 2000
#: Test functions with many cases of one kind → every how many-th case the tier ``test`` has, by its name;
#: what is marked ``quick`` stays.
SAMPLED = {
    "tests/checks/tasks/test_specimens.py::test_specimen": 32,
    "tests/checks/tasks/test_specimens.py::test_another_seed_gives_no_other_verdict": 2,
    "tests/checks/tasks/ternary_training/test_verdicts.py::"
    "test_the_summary_names_what_the_projection_does_instead": 2,
    "tests/checks/test_forged_replies.py::test_no_forged_reply_of_some_breaks_the_engine": 2,
    "tests/checks/test_goldens.py::test_a_submission_of_this_repository_is_bound_as_before": 2,
    "tests/cli/test_bind.py::test_what_is_written_of_a_reconstruction_binds_to_the_same_when_read_again": 2,
    "tests/checks/test_forged_figures.py::test_a_forged_figure_buys_no_verdict": 24,
    "tests/checks/test_attacks_on_search.py::test_who_knows_the_checks_passes_by_being_right_alone": 20,
    "tests/checks/attacks/test_fuse.py::test_attacks_are_caught_and_their_controls_pass": 6,
    "tests/checks/test_generic_verdicts.py::test_a_mutant_is_caught_and_told": 24,
    "tests/checks/test_generic_verdicts.py::test_a_twin_passes": 20,
    "tests/checks/test_spellings.py::test_unusual_spellings_are_judged_as_usual_ones": 10,
    "tests/checks/test_spellings.py::test_what_is_written_of_it_binds_to_the_same": 10,
    "tests/checks/cuda/test_nvrtc.py::test_right_code_is_accepted_whatever_its_host_part_leans_on": 10,
    "tests/checks/test_deceit.py::test_deceit_changes_no_verdict": 12,
    "tests/checks/test_sizes.py::test_another_seed_draws_other_sizes": 8,
    "tests/checks/test_twins_on_a_double.py::test_a_specimen_gets_the_verdict_that_it_gets_on_numpy": 24,
    "tests/checks/challenges/numbers/test_accuracy.py::test_a_wrong_answer_fails": 3,
    "tests/checks/challenges/numbers/test_faults.py::test_a_faulty_challenge_says_so": 3,
    "tests/checks/challenges/numbers/test_faults.py::"
    "test_what_fails_on_the_reference_is_the_challenge_s_fault": 3,
    "tests/checks/challenges/programs/test_cuda.py::test_a_cuda_program_is_judged_without_a_card": 3,
    "tests/cli/bringing/test_answers.py::test_ten_megabytes_of_anything_are_read_in_seconds": 4,
}
#: Set, every specimen is held, whatever the tier.
WHOLE = "JUDGE_TUI_ALL_VERDICTS"
LIST = Path(__file__).parent / "thorough.txt"


def of(config: pytest.Config) -> Tier:
    """The tier that this run is of."""
    tier: Tier = config.getoption("tier")
    return tier


def function(nodeid: str) -> str:
    """A test without its parameters and its group."""
    return nodeid.partition("[")[0].partition("@")[0]


def listed() -> frozenset[str]:
    """The test functions that are not quick."""
    return frozenset(LIST.read_text().split()) if LIST.exists() else frozenset()


def sorted_out(items: Iterable[pytest.Item], tier: Tier) -> list[pytest.Item]:
    """The tests that a tier leaves out."""
    if tier == "all":
        return []
    out = [item for item in items if item.get_closest_marker("campaign") is not None or _unsampled(item)]
    if tier == "quick":
        long = listed()
        out += [
            item
            for item in items
            if item.get_closest_marker("thorough") is not None
            or (item.get_closest_marker("quick") is None and function(item.nodeid) in long)
        ]
    return out


def _unsampled(item: pytest.Item) -> bool:
    """Whether it is one of many that this tier has a part of, and not in that part."""
    share = 1 if os.environ.get(WHOLE) else SAMPLED.get(function(item.nodeid), 1)
    return item.get_closest_marker("quick") is None and zlib.crc32(item.nodeid.encode()) % share != 0


def measured(seconds: Iterable[tuple[str, float]]) -> None:
    """Write down which functions are not quick.

    Args:
        seconds: Test and what it took, of a whole run.
    """
    slowest: defaultdict[str, float] = defaultdict(float)
    for nodeid, took in seconds:
        slowest[function(nodeid)] = max(slowest[function(nodeid)], took)
    LIST.write_text("".join(f"{name}\n" for name in sorted(slowest) if slowest[name] >= LONG))
