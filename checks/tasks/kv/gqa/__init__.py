"""Query heads that share heads of keys and values, held against repeated heads."""

from judge_tui.checks.tasks.kv.gqa.shared_heads import gqa

__all__ = ["gqa"]
