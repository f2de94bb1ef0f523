"""Which wrong merge of partial softmax statistics gives a row's sum of exponentials.

Threads share a row: each has a maximum m and a sum l = Σ exp(x − m) of its part. Two of them are merged
by M = max(m, m'), l·exp(m − M) + l'·exp(m' − M). Where an answer's probabilities are off by a factor that its
entries have in common, the sum that they were divided by is known, and is held against what each known
mistake would give, for the usual ways of sharing a row out.

Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018), section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judge_tui.checks.tasks.fuse.hypotheses import hypotheses
from judge_tui.checks.tasks.fuse.seen_sums import Hypothesis, Sum

__all__ = ["common"]


def common(sums: Sequence[Sum], known: Iterable[Hypothesis] = ()) -> Hypothesis | None:
    """The mistake that gives every one of the sums; at least two of them must be off.

    Args:
        sums: Of rows that are not alike.
        known: Mistakes that are looked for; all that do not hang on a size where none are given.
    """
    sums = sorted(sums, key=lambda seen: (not seen.off, len(seen.row.logits)))
    if sum(seen.off for seen in sums) < 2:
        return None
    return next((each for each in known or hypotheses() if all(map(each.gives, sums))), None)
