"""What happens past the end, to the others then, in place of one that left, and in a window that slides."""

from judge_tui.checks.tasks.kv.capacity.past_end import capacity

__all__ = ["capacity"]
