"""Who can be ranked against whom, and whether the likelihood of what was seen has a finite maximum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from judge_tui.judging.matchup import TIE
from judge_tui.judging.statistics.comparisons import Comparison

__all__ = ["groups", "has_maximum"]


def groups(models: Iterable[str], comparisons: Iterable[Comparison]) -> tuple[tuple[str, ...], ...]:
    """The models by who was compared with whom, directly or through others; the largest group first."""
    of = {model: {model} for model in models}
    for each in comparisons:
        one, other = (of.setdefault(model, {model}) for model in each.models)
        if one is not other:
            one |= other
            of |= dict.fromkeys(other, one)
    found = {tuple(sorted(group)) for group in of.values()}
    return tuple(sorted(found, key=lambda group: (-len(group), group)))


def has_maximum(models: Sequence[str], comparisons: Iterable[Comparison]) -> bool:
    """Whether the Davidson likelihood has a finite maximum.

    It has none where models can be moved apart for ever, or strengths and ties together, without what was
    seen becoming less likely. The first is a group that never lost and never tied against the others (Ford
    1957), the second a system of differences, ≥ 1 for a win and within ±1 for a tie, that has a solution:
    there is none if a round of models has more wins than ties in it.

    Args:
        models: All of them.
        comparisons: All of them.

    Source: Ford (1957), Solution of a ranking problem from binary comparisons, American Mathematical Monthly
    64, 28-33; Albert and Anderson (1984), On the existence of maximum likelihood estimates in logistic
    regression models, Biometrika 71, 1-10.
    """
    at = {model: place for place, model in enumerate(models)}
    least = np.full((len(at), len(at)), np.inf)
    tied = False
    for each in comparisons:
        i, j = (at[model] for model in each.models)
        if each.winner == TIE:
            tied = True
            least[i, j], least[j, i] = min(least[i, j], 1), min(least[j, i], 1)
        else:
            won, lost = (i, j) if each.winner == each.models[0] else (j, i)
            least[won, lost] = -1
    np.fill_diagonal(least, np.minimum(np.diag(least), 0))
    for through in range(len(at)):
        least = np.minimum(least, least[:, [through]] + least[[through], :])
    return bool(np.isfinite(least).all()) and (not tied or bool((np.diag(least) < 0).any()))
