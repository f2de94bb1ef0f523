"""What happens past the end, in place of a sequence that left, and in a window that slides."""

from judge_tui.checks.tasks.kv.capacity.check import capacity

__all__ = ["capacity"]
