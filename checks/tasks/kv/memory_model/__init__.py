"""A submission's own calculator of a cache's memory, held against the closed form."""

from judge_tui.checks.tasks.kv.memory_model.own_figures import memory_model

__all__ = ["memory_model"]
