"""Tiled flash attention with its backward: gradients from a cache of O, L and the inputs."""

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.flash_attention.accuracy import accuracy
from judge_tui.checks.tasks.flash_attention.masked_tiles import nan_masked_tiles
from judge_tui.checks.tasks.flash_attention.rescaling import rescaling_direction
from judge_tui.checks.tasks.flash_attention_bwd.contract import CONTRACT
from judge_tui.checks.tasks.flash_attention_bwd.gradients import gradients
from judge_tui.checks.tasks.flash_attention_bwd.identities import gradient_identities
from judge_tui.checks.tasks.flash_attention_bwd.logsumexp import logsumexp
from judge_tui.checks.tasks.flash_attention_bwd.masked import masked_rows
from judge_tui.checks.tasks.flash_attention_bwd.memory import peak_memory
from judge_tui.checks.tasks.flash_attention_bwd.minimality import cache_minimality
from judge_tui.checks.tasks.flash_attention_bwd.walks import kv_passes

__all__ = ["TASK"]

TASK = Task(
    "flash_attention_bwd",
    "Tiled flash attention, backward",
    CONTRACT,
    with_generic(
        gradients,
        gradient_identities,
        logsumexp,
        masked_rows,
        cache_minimality,
        kv_passes,
        peak_memory,
        accuracy,
        rescaling_direction,
        nan_masked_tiles,
    ),
    ("gpu", "cpu"),
    answers={
        "forward": ("accuracy", "rescaling_direction", "nan_masked_tiles", "logsumexp"),
        "backward": ("gradients", "gradient_identities", "masked_rows"),
    },
)
