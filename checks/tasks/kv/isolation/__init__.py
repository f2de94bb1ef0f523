"""Whether what stands past a sequence's length can reach its answers."""

from judge_tui.checks.tasks.kv.isolation.empty_slots import isolation

__all__ = ["isolation"]
