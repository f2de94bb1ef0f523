"""By which other exponent than alpha winners are right, told where it gives every one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judge_tui.checks.tasks.beam_search.oracle import beam_search
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens

__all__ = ["Won", "of_another_exponent"]


@dataclass(frozen=True, slots=True)
class Won:
    """A search of one prompt, and what it returned as the best.

    Attributes:
        script: The model.
        prompt: Token ids.
        steps: Most new tokens.
        width: K.
        alpha: The penalty's exponent.
        tokens: The best beam that came back; empty where none did.
    """

    script: Script
    prompt: Tokens
    steps: int
    width: int
    alpha: float
    tokens: Tokens

    def is_won_by(self, exponent: float) -> bool:
        """Whether a right search with this exponent has the same winner."""
        rows, eos = self.script.rows, self.script.eos
        found = beam_search(rows, self.prompt, self.width, self.steps, exponent, eos)
        return found.best.tokens == self.tokens


#: What may be taken for alpha, in words.
_EXPONENTS: Sequence[tuple[str, Callable[[float], float]]] = (
    ("without a penalty, whatever alpha is", lambda _: 0.0),
    ("by length in place of length^alpha", lambda _: 1.0),
    ("by half of alpha", lambda alpha: alpha / 2),
    ("by twice alpha", lambda alpha: 2 * alpha),
    ("by 1 - alpha", lambda alpha: 1 - alpha),
)


def of_another_exponent(winners: Sequence[Won]) -> str:
    """The exponent by which every winner is right, as a clause; empty where none is, or several are.

    Args:
        winners: Searches with alphas on both sides of many crossovers.
    """
    fit = [words for words, of in _EXPONENTS if all(one.is_won_by(of(one.alpha)) for one in winners)]
    return f"all {len(winners)} winners are those {fit[0]}" if len(fit) == 1 else ""
