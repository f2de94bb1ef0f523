"""Whether blocks of tokens that are handed out come back, and are never anyone else's."""

from judge_tui.checks.tasks.kv.paged.blocks import paged

__all__ = ["paged"]
