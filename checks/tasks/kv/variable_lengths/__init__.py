"""Whether each sequence of a ragged batch equals its solo run."""

from judge_tui.checks.tasks.kv.variable_lengths.ragged import variable_lengths

__all__ = ["variable_lengths"]
