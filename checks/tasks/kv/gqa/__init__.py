"""Query heads that share heads of keys and values: found, and held against repeated heads."""

from judge_tui.checks.tasks.kv.gqa.check import gqa

__all__ = ["gqa"]
