"""How memory and the work of a step grow with length."""

from judge_tui.checks.tasks.kv.growth.lengths import growth

__all__ = ["growth"]
