"""Quantized keys and values: found as caches or as pairs of functions, and held to their own step."""

from judge_tui.checks.tasks.kv.quantization.check import quantized

__all__ = ["quantized"]
