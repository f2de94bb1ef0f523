"""Ranks that are shared by all who cannot be told apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["ranks", "said"]


def ranks(order: Sequence[str], apart: Collection[tuple[str, str]]) -> dict[str, tuple[int, ...]]:
    """The ranks that each model has a part in.

    A rank is a largest set of models none of which is told from another. So two models share a rank exactly
    where they cannot be told apart; one between two that can be shares a rank with each of them.

    Args:
        order: The models, the strongest first.
        apart: Pairs, in either order, that are told apart.

    Source: Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons, Journal
    of Computational and Graphical Statistics 13, 456-466.
    """
    differ = {frozenset(pair) for pair in apart}
    near = {
        model: {other for other in order if other != model and frozenset((model, other)) not in differ}
        for model in order
    }
    place = {model: at for at, model in enumerate(order)}
    sets = sorted(
        _cliques(near, frozenset(), set(order), set()), key=lambda one: sorted(place[m] for m in one)
    )
    return {model: tuple(at for at, one in enumerate(sets, 1) if model in one) for model in order}


def _cliques(
    near: Mapping[str, set[str]], chosen: frozenset[str], open_: set[str], closed: set[str]
) -> Iterable[frozenset[str]]:
    """The largest sets of models that are all near each other, after Bron and Kerbosch (1973)."""
    if not open_ and not closed:
        if chosen:
            yield chosen
        return
    pivot = max(sorted(open_ | closed), key=lambda model: len(near[model] & open_))
    for model in sorted(open_ - near[pivot]):
        yield from _cliques(near, chosen | {model}, open_ & near[model], closed & near[model])
        open_ = open_ - {model}
        closed = closed | {model}


def said(own: Sequence[int]) -> str:
    """Ranks for a reader: ``2``, ``1–3``, or ``1, 3``."""
    if len(own) > 1 and own[-1] - own[0] == len(own) - 1:
        return f"{own[0]}–{own[-1]}"
    return ", ".join(map(str, own))
