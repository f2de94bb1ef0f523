"""Whether quantized keys and values give back what went in to half a step of their own, and save bytes."""

from judge_tui.checks.tasks.kv.quantized.codes import quantized

__all__ = ["quantized"]
