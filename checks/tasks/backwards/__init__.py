"""Layer-norm backward: forward with a minimal cache, gradients by hand."""

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.backwards.accuracy import forward_accuracy
from judge_tui.checks.tasks.backwards.cancellation import cancellation
from judge_tui.checks.tasks.backwards.contract import CONTRACT
from judge_tui.checks.tasks.backwards.cost import gradient_cost
from judge_tui.checks.tasks.backwards.degenerate import degenerate
from judge_tui.checks.tasks.backwards.gradients import gradients
from judge_tui.checks.tasks.backwards.identities import gradient_identities
from judge_tui.checks.tasks.backwards.minimality import cache_minimality

__all__ = ["TASK"]

TASK = Task(
    "backwards",
    "Layer-norm backward",
    CONTRACT,
    with_generic(
        forward_accuracy,
        gradients,
        gradient_identities,
        cache_minimality,
        cancellation,
        degenerate,
        gradient_cost,
    ),
    ("gpu", "cpu"),
    answers={
        "forward": ("forward_accuracy", "cancellation", "degenerate"),
        "backward": ("gradients", "gradient_identities", "cancellation", "degenerate"),
    },
)
