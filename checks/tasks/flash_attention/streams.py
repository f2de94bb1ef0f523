"""Which mistake of the online recurrence gives weights: what is done to O and to l with each tile of keys."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.weights import Read, alike

__all__ = ["Stream", "late_rescaling", "streamed_weights", "tiles_of", "wrong_stream"]

#: What is done to O, or to l, before a tile is added.
_FACTORS: Mapping[str, str] = {
    "right": "",
    "none": "not rescaled by exp(m_old - m_new)",
    "reversed": "rescaled by exp(m_new - m_old), the wrong way",
    "lost": "overwritten by each tile, not added to",
    "twice": "rescaled twice",
    "exchanged": "not rescaled, but what is added to it",
    "first": "rescaled by the factor of the first row of its tile",
}
#: Rises of a maximum that are told apart, and how far a factor may be from what it is taken for.
_RISE, _SAME = 1e-3, 1e-6


@dataclass(frozen=True, slots=True)
class Stream:
    """What a recurrence does.

    Attributes:
        out: To O before a tile is added; a key of ``_FACTORS``.
        total: To l.
        divided: ``end`` for O / l behind the last tile, ``each`` for after every tile as well, ``own`` for a
            tile's weights by their own sum, ``own and end`` for that and l, ``never``.
        carried: Whether the maximum goes on from tile to tile.
        bases: Of the weights, and of the factors by which O and l are rescaled.
        kept: Which of m, l and O go on from one tile of rows to the next; letters of ``mlO``.
        ragged: Whether into a last tile of rows that is not whole as well.
    """

    out: str = "right"
    total: str = "right"
    divided: str = "end"
    carried: bool = True
    bases: tuple[float, float] = (math.e, math.e)
    kept: str = ""
    ragged: bool = True

    @property
    def words(self) -> str:
        """As a clause."""
        if self.kept:
            left = ", ".join(self.kept[:-1]) + " and " * (len(self.kept) > 1) + self.kept[-1]
            return f"{left} {'is' if len(self.kept) == 1 else 'are'} not set back for a new tile of rows"
        if self.bases != (math.e, math.e):
            weights, factors = ("powers of two" if base == 2 else "powers of e" for base in self.bases)
            return f"weights are {weights}, but O and l are rescaled by {factors}"
        if self.out == self.total != "right":
            done = f"O and l are {_FACTORS[self.out]}"
        else:
            both = (("O", self.out), ("l", self.total))
            done = " and ".join(f"{name} is {_FACTORS[what]}" for name, what in both if what != "right")
        if not self.carried:
            done = f"each tile takes its own maximum and none is carried on{done and f', {done}'}"
        divided = {
            "end": "",
            "each": "O is divided by l after every tile, and what is divided goes on",
            "own": "each tile's weights are divided by their own sum, and not by l",
            "own and end": "each tile's weights are divided by their own sum, and O by l in the end",
            "never": "O is never divided by l",
            "twice": "O is divided by l twice",
        }[self.divided]
        return "; ".join(filter(None, (divided, done)))


def tiles_of(read: Read) -> Iterator[tuple[slice, npt.NDArray[np.bool_]]]:
    """Tiles of keys, and which rows (N, 1) visit them."""
    length, tile = read.length, read.case.tile
    rows = np.arange(length)[:, None] // tile
    for start in range(0, length, tile):
        yield slice(start, min(start + tile, length)), (rows >= start // tile) | (not read.case.causal)


def streamed_weights(read: Read, how: Stream) -> Array:
    """The weights that a recurrence gives (B, H, N, N)."""
    scores = np.where(read.seen, read.scores, -np.inf)
    m = np.full((*scores.shape[:3], 1), -np.inf)
    total, out = np.zeros_like(m), np.zeros_like(scores)
    for keys, rows in tiles_of(read):
        own = scores[..., keys].max(axis=-1, keepdims=True)
        top = np.maximum(m, own) if how.carried else own
        safe = np.where(np.isfinite(top), top, 0.0)
        weights = np.exp((scores[..., keys] - safe) * math.log(how.bases[0]))
        fall = np.where(np.isfinite(m), m - safe, -np.inf) * math.log(how.bases[1])
        summed = weights.sum(axis=-1, keepdims=True)
        more = np.zeros_like(out)
        more[..., keys] = weights / summed if how.divided.startswith("own") else weights
        tile = _first_of_tile(fall, read.case.tile)
        new_total, new_out = (
            value * _factor(what, tile if what == "first" else fall)
            + added * (np.exp(fall) if what == "exchanged" else 1.0)
            for what, value, added in ((how.total, total, summed), (how.out, out, more))
        )
        if how.divided == "each":
            new_out = new_out / new_total
        m, total, out = (
            np.where(rows, new, old) for new, old in ((top, m), (new_total, total), (new_out, out))
        )
    if how.divided in ("own", "never"):
        return out
    out = out / total
    return np.asarray(out / total if how.divided == "twice" else out)


def _first_of_tile(fall: Array, tile: int) -> Array:
    return np.asarray(fall[:, :, np.arange(fall.shape[2]) // tile * tile])


def _factor(what: str, fall: Array) -> Array:
    match what:
        case "none" | "exchanged":
            return np.ones_like(fall)
        case "reversed":
            return np.where(np.isfinite(fall), np.exp(np.where(np.isfinite(fall), -fall, 0.0)), 0.0)
        case "lost":
            return np.zeros_like(fall)
        case "twice":
            return np.exp(2 * fall)
    return np.exp(fall)


def wrong_stream(read: Sequence[Read]) -> str:
    """What is wrong with the recurrence, as a clause; empty where it is none of what is known.

    Args:
        read: Weights of wrong answers.
    """
    for how in _OTHERS:
        gives = _kept_on if how.kept else streamed_weights
        if all(alike(gives(each, how), each.made) for each in read):
            return how.words
    ways = itertools.product(("end", "never", "twice", "each", "own", "own and end"), (True, False))
    for divided, carried in ways:
        for out, total in sorted(itertools.product(_FACTORS, _FACTORS), key=lambda both: both[0] != both[1]):
            how = Stream(out, total, divided, carried)
            if how.words and all(alike(streamed_weights(each, how), each.made) for each in read):
                return how.words
    return ""


def _kept_on(read: Read, how: Stream) -> Array:
    """The same where what a tile of rows gathered goes on into the next one, place by place."""
    tile, scores = read.case.tile, np.where(read.seen, read.scores, -np.inf)
    made = np.zeros_like(read.made)
    state = {name: np.zeros((*made.shape[:2], tile, 1)) for name in "ml"}
    state |= {"m": state["m"] - np.inf, "O": np.zeros((*made.shape[:2], tile, read.length))}
    fresh = {name: value.copy() for name, value in state.items()}
    for start in range(0, read.length, tile):
        rows = slice(start, min(start + tile, read.length))
        count = rows.stop - rows.start
        keeps = how.kept if count == tile or how.ragged else ""
        m, total, out = ((state if name in keeps else fresh)[name][:, :, :count].copy() for name in "mlO")
        for keys, visiting in tiles_of(read):
            if not visiting[start, 0]:
                continue
            part = scores[:, :, rows, keys]
            top = np.maximum(m, part.max(axis=-1, keepdims=True))
            weights, fall = np.exp(part - top), np.exp(m - top)
            total, out = total * fall + weights.sum(axis=-1, keepdims=True), out * fall
            out[..., keys] += weights
            m = top
        for name, value in (("m", m), ("l", total), ("O", out)):
            state[name][:, :, :count] = value
        made[:, :, rows] = out / total
    return made


_OTHERS = (
    *(Stream(bases=bases) for bases in ((2.0, math.e), (math.e, 2.0))),
    *(
        Stream(kept=kept, ragged=ragged)
        for ragged in (True, False)
        for kept in ("m", "l", "O", "ml", "mO", "lO", "mlO")
    ),
)


def late_rescaling(read: Sequence[Read]) -> str:
    """Rises of a maximum that are rescaled from some size on alone, though weights are of the new maximum.

    Args:
        read: Weights of wrong answers, of scores so far apart that maxima rise by little and by much.

    Returns:
        A clause; empty where that is not what is wrong.
    """
    skipped: list[float] = []
    done: list[float] = []
    for each in read:
        if not all(_walked(each, row, skipped, done) for row in range(each.length)):
            return ""
    if not skipped or not done or max(skipped) >= min(done):
        return ""
    least, most = max(skipped), min(done)
    return (
        f"a maximum that rises by {least:.3g} or less rescales nothing, though weights are of the new one; "
        f"by {most:.3g} or more it is rescaled"
    )


def _walked(read: Read, row: int, skipped: list[float], done: list[float]) -> bool:
    """Note the rises of one row, by whether O was rescaled; false where its weights tell something else."""
    scores, made = read.scores[0, 0, row], read.made[0, 0, row]
    reference = frame = level = -np.inf
    for keys, rows in tiles_of(read):
        seen = read.seen[row, keys]
        if not rows[row] or not seen.any():
            continue
        top = float(scores[keys][seen].max())
        logs = np.log(made[keys][seen]) - scores[keys][seen]
        if not np.isfinite(logs).all() or np.ptp(logs) > _SAME * max(1.0, abs(float(logs[0]))):
            return False
        new = max(reference, top)
        if np.isneginf(frame):
            reference, frame, level = new, new, float(logs[0])
            continue
        factor, rise = level - float(logs[0]) + frame - new, new - reference
        if abs(factor + rise) <= _SAME * max(1.0, rise) or rise < _RISE:
            if rise >= _RISE:
                done.append(rise)
            reference = new
        elif abs(factor) <= _SAME * max(1.0, rise):
            skipped.append(rise)
        else:
            return False
        frame, level = new, float(logs[0])
    return True
