"""A prompt in chunks: found, run as if it went in at once, and held against one prefill."""

from judge_tui.checks.tasks.kv.chunked_prefill.check import chunked_prefill

__all__ = ["chunked_prefill"]
