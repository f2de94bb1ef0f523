"""KV cache for autoregressive inference: its contract and its checks."""

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.kv.cache_size_minimality.bytes_per_token import cache_size_minimality
from judge_tui.checks.tasks.kv.capacity import capacity
from judge_tui.checks.tasks.kv.chunked_prefill import chunked_prefill
from judge_tui.checks.tasks.kv.contract import CONTRACT
from judge_tui.checks.tasks.kv.gqa import gqa
from judge_tui.checks.tasks.kv.growth import growth
from judge_tui.checks.tasks.kv.incremental_equals_full import incremental_equals_full
from judge_tui.checks.tasks.kv.isolation import isolation
from judge_tui.checks.tasks.kv.memory_model import memory_model
from judge_tui.checks.tasks.kv.paged import paged
from judge_tui.checks.tasks.kv.quantized import quantized
from judge_tui.checks.tasks.kv.sharing import sharing
from judge_tui.checks.tasks.kv.variable_lengths.ragged import variable_lengths

__all__ = ["TASK"]

CHECKS = (
    incremental_equals_full,
    variable_lengths,
    cache_size_minimality,
    isolation,
    growth,
    capacity,
    chunked_prefill,
    gqa,
    paged,
    quantized,
    sharing,
    memory_model,
)

TASK = Task(
    "kv",
    "KV cache",
    CONTRACT,
    with_generic(*CHECKS),
    ("gpu", "cpu"),
    answers={
        "cache": (
            "incremental_equals_full",
            "variable_lengths",
            "isolation",
            "capacity",
            "paged",
            "quantized",
        ),
        "attention over the cache": (
            "incremental_equals_full",
            "chunked_prefill",
            "gqa",
            "quantized: attention",
        ),
    },
)
