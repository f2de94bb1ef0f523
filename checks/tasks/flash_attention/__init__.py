"""Tiled flash attention, forward."""

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.flash_attention.accuracy import accuracy
from judge_tui.checks.tasks.flash_attention.causal import causal_skip, causality
from judge_tui.checks.tasks.flash_attention.contract import CONTRACT
from judge_tui.checks.tasks.flash_attention.masked_tiles import nan_masked_tiles
from judge_tui.checks.tasks.flash_attention.memory import peak_memory
from judge_tui.checks.tasks.flash_attention.rescaling import rescaling_direction

__all__ = ["TASK"]

TASK = Task(
    "flash_attention",
    "Tiled flash attention, forward",
    CONTRACT,
    with_generic(accuracy, rescaling_direction, nan_masked_tiles, causality, causal_skip, peak_memory),
    ("gpu", "cpu"),
    answers={"forward": ("accuracy", "rescaling_direction", "nan_masked_tiles", "causality")},
)
