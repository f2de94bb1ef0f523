"""A prompt in chunks, held against one prefill."""

from judge_tui.checks.tasks.kv.chunked_prefill.equals_whole import chunked_prefill

__all__ = ["chunked_prefill"]
