"""What is wrong with the weights that rows of attention give to the tokens that are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.incremental_equals_full.weight_counts import count_words
from judge_tui.checks.tasks.kv.incremental_equals_full.weight_heads import head_words, normalised_words
from judge_tui.checks.tasks.kv.words.misplaced import places, span
from judge_tui.checks.tasks.kv.words.reference import causal_rows

__all__ = ["weight_words"]

Array = npt.NDArray[Any]
#: Which weight is seen, which is told from another, and how much a lost one keeps of itself at most.
_SEEN, _SAME, _LOST = 1e-4, 1e-3, 1e-2
#: The least weight whose score is read off it, and how far apart scores are that are others.
_FAINT, _SCORE = 1e-7, 2e-3
#: Tokens whose scores are others at most, and rows that must show it.
_FEW, _ROWS = 8, 3


def weight_words(made: Array, scores: Array) -> str:
    """What is wrong, as a clause; empty where nothing is, or where it has no name.

    Args:
        made: (B, H, T, S), what rows of answers give to the values of S stored tokens; the last row is the
            newest token's.
        scores: Scaled scores of the same shape, nothing hidden.
    """
    if made.shape != scores.shape:
        return ""
    if not np.isfinite(made).all():
        return f"{_rows(np.asarray(~np.isfinite(made).all(axis=(0, 1, 3))))}: not finite"
    right = _softmax(scores)
    wrong = np.abs(made - right).max(axis=-1) > _SAME
    if not wrong.any():
        return ""
    if ahead := _ahead(made):
        gone = _gone(made, right)
        return f"{ahead}; without weight: {places(gone)}" if gone.any() else ahead
    seen = np.broadcast_to(causal_rows(*scores.shape[2:]), scores.shape)
    if told := head_words(made, right) or count_words(made, scores) or normalised_words(made, scores, seen):
        return told
    told = _lost(made, right, scores) or _scaled(made, right, wrong)
    return told or _other_scores(made, scores)


def _softmax(scores: Array) -> Array:
    hidden = np.where(causal_rows(*scores.shape[2:]), scores, -np.inf)
    weights = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _ahead(made: Array) -> str:
    """Rows that see tokens behind themselves."""
    tokens, stored = made.shape[2:]
    own = np.arange(stored - tokens, stored)
    behind = (np.abs(made) > _SEEN) & (np.arange(stored) > own[:, None])
    seen = np.asarray(behind.any(axis=(0, 1)))
    rows = np.flatnonzero(seen.any(axis=1))
    if not len(rows):
        return ""
    first = int(rows[0])
    keys = np.flatnonzero(seen[first])
    heads = np.asarray(behind.any(axis=(0, 2, 3)))
    which = f" of {span('head', np.flatnonzero(heads).tolist(), len(heads))}" if not heads.all() else ""
    least = int(np.flatnonzero(seen.any(axis=0))[0])
    many = f"{len(rows)} of {tokens} rows see"
    # What every row is shown from one token on is told by that token, where it is not the row's next one.
    since = f", from token {least} on" if least > own[first] + 1 else ""
    row = f"row {first}, of token {own[first]}, sees {span('token', keys.tolist(), stored)}"
    return f"{many} tokens behind their own{which}{since}: {row}"


def _gone(made: Array, right: Array) -> Array:
    """Tokens of sequences and heads (B, H, S) that no row gives any weight, though some should."""
    weighty = right > _SEEN * 10
    small = np.abs(made) <= _LOST * right
    return np.asarray((weighty & small).any(axis=2) & ~(weighty & ~small).any(axis=2))


def _lost(made: Array, right: Array, scores: Array) -> str:
    """Tokens that no row sees: hidden, or seen and their values zero."""
    gone = _gone(made, right)
    if not gone.any():
        return _masked(made, scores)
    rest = np.where(gone[:, :, None], 0.0, right)
    where = places(gone)
    if _near(made, rest):
        return f"{where}: the values count as zeros"
    total = rest.sum(axis=-1, keepdims=True)
    if _near(made, rest / np.where(total > 0, total, 1.0)):
        return f"{where}: not attended to"
    if _near(made, np.where(gone[:, :, None], 0.0, _softmax(np.where(gone[:, :, None], 0.0, scores)))):
        return f"{where}: keys and values count as zeros"
    if instead := _instead(made, right, rest, gone):
        return f"{where}: {instead}"
    return _masked(made, scores) or f"{where}: no weight, and the others have not theirs"


def _masked(made: Array, scores: Array) -> str:
    """Rows that see fewer of the tokens before them, and weigh these rightly."""
    tokens, stored = made.shape[2:]
    sees = made > _FAINT
    hidden = np.where(sees, scores, -np.inf)
    top = hidden.max(axis=-1, keepdims=True)
    weights = np.where(sees, np.exp(hidden - np.where(np.isfinite(top), top, 0.0)), 0.0)
    total = weights.sum(axis=-1, keepdims=True)
    if not _near(made, weights / np.where(total > 0, total, 1.0)):
        return ""
    fewer = np.asarray((causal_rows(tokens, stored) & ~sees).any(axis=-1))
    rows = np.flatnonzero(fewer.any(axis=(0, 1)))
    if not len(rows):
        return ""
    last = int(rows[-1])
    keys = np.flatnonzero(sees[fewer[..., last], last].any(axis=0)).tolist()
    alone = f"{span('token', keys, stored)} alone" if keys else "none"
    many = f"{len(rows)} of {tokens} rows do not see all tokens before them"
    return f"{many}: row {last}, of token {stored - tokens + last}, sees {alone}"


def _instead(made: Array, right: Array, rest: Array, gone: Array) -> str:
    """Which other tokens' values stand in the place of those that are gone."""
    tokens, more = np.flatnonzero(gone.any(axis=(0, 1))), made - rest
    others = []
    for token in tokens:
        apart = np.abs(more - (right * gone[:, :, None])[..., token : token + 1]).max(axis=(0, 1, 2))
        others.append(int(apart.argmin()))
        more[..., others[-1]] -= (right * gone[:, :, None])[..., token]
    if not _near(more, np.zeros_like(more)):
        return ""
    if len(others) == 1:
        return f"in its place stands the value of token {others[0]}"
    return f"in their place stand the values of {span('token', sorted(set(others)), made.shape[3])}"


def _other_scores(made: Array, scores: Array) -> str:
    """Scores that are others, of weights that add up to one: a factor, another token's, or zeros."""
    seen = np.broadcast_to(causal_rows(*scores.shape[2:]), scores.shape)
    if not (made[seen] > _FAINT).all() or np.abs(made.sum(axis=-1) - 1.0).max() > _SAME:
        return ""
    own = np.log(np.where(seen, made, 1.0))
    if factor := _factor(own, scores, seen):
        return f"scores are {factor:.4g} times what they should be"
    shift = np.nanmedian(np.where(seen, own - scores, np.nan), axis=-1, keepdims=True)
    own = own - shift
    off = seen & (np.abs(own - scores) > _SCORE)
    tokens = np.flatnonzero(off.any(axis=(0, 1, 2)))
    if not 0 < len(tokens) <= _FEW or made.shape[0] * made.shape[1] * made.shape[2] < _ROWS:
        return ""
    told = []
    for token in tokens.tolist():
        at = off[..., token]
        apart = np.abs(own[..., token][at][:, None] - scores[at]).max(axis=0)
        if np.abs(own[..., token][at]).max() <= _SCORE:
            told.append(f"the key of token {token} counts as zeros")
        elif apart.min() <= _SCORE:
            told.append(f"for the key of token {token} stands that of token {int(apart.argmin())}")
    return ", ".join(told[:3]) if len(told) == len(tokens) else ""


def _factor(own: Array, scores: Array, seen: Array) -> float:
    """How many times the right ones scores are, but for a number of each row; 0 where they are not."""

    def centred(x: Array) -> Array:
        mean = np.where(seen, x, 0.0).sum(axis=-1, keepdims=True) / seen.sum(axis=-1, keepdims=True)
        return np.where(seen, x - mean, 0.0)

    one, other = centred(own), centred(scores)
    factor = float((one * other).sum() / max(float((other * other).sum()), 1e-300))
    return factor if np.abs(one - factor * other).max() <= _SCORE else 0.0


def _scaled(made: Array, right: Array, wrong: Array) -> str:
    """Rows whose weights are right among each other and do not add up to one; else which rows are wrong."""
    total = made.sum(axis=-1)
    with np.errstate(all="ignore"):
        even = np.nan_to_num(made / total[..., None])
    bad = total[wrong]
    if _near(even, right) and np.abs(bad).min() > _SAME:
        low, high = float(bad.min()), float(bad.max())
        factors = f"a factor of {low:.3g}" if high - low <= _SAME else f"factors of {low:.3g} to {high:.3g}"
        return f"{_rows(np.asarray(wrong.any(axis=(0, 1))))}: weights right but for {factors}"
    return ""


def _rows(wrong: Array) -> str:
    at = np.flatnonzero(wrong)
    return "all rows" if len(at) == len(wrong) else span("row", at.tolist(), len(wrong))


def _near(made: Array, wanted: Array) -> bool:
    return bool(np.abs(made - wanted).max() <= _SAME)
