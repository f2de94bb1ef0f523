"""Batched beam search with EOS semantics and a length penalty."""

from __future__ import annotations

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.beam_search.contract import CONTRACT
from judge_tui.checks.tasks.beam_search.edges import edge_cases
from judge_tui.checks.tasks.beam_search.greedy import greedy_equivalence
from judge_tui.checks.tasks.beam_search.independence import batch_independence
from judge_tui.checks.tasks.beam_search.optimum import exhaustive_optimum
from judge_tui.checks.tasks.beam_search.penalty import length_penalty
from judge_tui.checks.tasks.beam_search.retention import eos_retention

__all__ = ["TASK"]

TASK = Task(
    "beam_search",
    "Batched beam search",
    CONTRACT,
    with_generic(
        eos_retention,
        length_penalty,
        greedy_equivalence,
        batch_independence,
        exhaustive_optimum,
        edge_cases,
    ),
    ("cpu", "gpu"),
    answers={
        "search": (
            "eos_retention",
            "length_penalty",
            "greedy_equivalence",
            "batch_independence",
            "exhaustive_optimum",
            "edge_cases",
        )
    },
)
