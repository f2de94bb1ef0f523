"""Tiled flash attention with its backward: gradients from a cache of O, L and the inputs."""

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.flash_attention.accuracy import accuracy
from judge_tui.checks.tasks.flash_attention.masked_tiles import nan_masked_tiles
from judge_tui.checks.tasks.flash_attention.rescaling import rescaling_direction
from judge_tui.checks.tasks.flash_attention_bwd.contract import CONTRACT
from judge_tui.checks.tasks.flash_attention_bwd.gradients import gradients

__all__ = ["TASK"]

TASK = Task(
    "flash_attention_bwd",
    "Tiled flash attention, backward",
    CONTRACT,
    with_generic(gradients, accuracy, rescaling_direction, nan_masked_tiles),
)
