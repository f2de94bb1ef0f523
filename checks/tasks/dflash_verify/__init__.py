"""Tree verification for speculative decoding: mask, acceptance, equality with greedy decoding."""

from __future__ import annotations

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.dflash_verify.contract import CONTRACT
from judge_tui.checks.tasks.dflash_verify.distribution import distribution
from judge_tui.checks.tasks.dflash_verify.golden import golden
from judge_tui.checks.tasks.dflash_verify.invalidation import subtree_invalidation
from judge_tui.checks.tasks.dflash_verify.parent_logits import parent_logits
from judge_tui.checks.tasks.dflash_verify.tree_mask import tree_mask

__all__ = ["TASK"]

TASK = Task(
    "dflash_verify",
    "Tree verification for speculative decoding",
    CONTRACT,
    with_generic(tree_mask, parent_logits, subtree_invalidation, golden, distribution),
    ("cpu", "gpu"),
    answers={"mask": ("tree_mask",), "verify": ("parent_logits", "subtree_invalidation", "golden")},
)
