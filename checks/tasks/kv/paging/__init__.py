"""Caches that hand out blocks of tokens: found, fed by sequence, and counted."""

from judge_tui.checks.tasks.kv.paging.check import paged

__all__ = ["paged"]
