"""Whether what shares a past stays apart after it."""

from judge_tui.checks.tasks.kv.sharing.apart import sharing

__all__ = ["sharing"]
