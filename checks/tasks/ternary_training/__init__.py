"""Ternary weights with a straight-through estimator, and the log of a training run."""

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.ternary_training.contract import CONTRACT
from judge_tui.checks.tasks.ternary_training.convergence import convergence
from judge_tui.checks.tasks.ternary_training.projection import projection
from judge_tui.checks.tasks.ternary_training.ste import ste

__all__ = ["TASK"]

TASK = Task(
    "ternary_training",
    "Ternary training",
    CONTRACT,
    with_generic(projection, ste, convergence),
    ("cpu", "gpu"),
    answers={"forward": ("projection",), "backward": ("ste",)},
)
