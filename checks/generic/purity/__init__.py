"""Whether calls leave their arguments alone and repeat themselves bit for bit."""

from judge_tui.checks.generic.purity.pure_roles import purity

__all__ = ["purity"]
