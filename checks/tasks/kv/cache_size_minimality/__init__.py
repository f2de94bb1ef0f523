"""Whether a cache takes the bytes that keys and values need, and no more."""

from judge_tui.checks.tasks.kv.cache_size_minimality.bytes_per_token import cache_size_minimality

__all__ = ["cache_size_minimality"]
