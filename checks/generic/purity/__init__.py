"""Whether calls leave their arguments alone and repeat themselves bit for bit."""

from judge_tui.checks.generic.purity.check import purity

__all__ = ["purity"]
