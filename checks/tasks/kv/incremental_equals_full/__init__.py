"""Whether decoding with the cache equals full causal attention, prompts and caches side by side included."""

from judge_tui.checks.tasks.kv.incremental_equals_full.equals_full import incremental_equals_full

__all__ = ["incremental_equals_full"]
