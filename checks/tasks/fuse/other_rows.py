"""What a row takes from other rows of its launch: their maximum or their sum; and which rows are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.asking import LIMIT, Asked
from judge_tui.checks.tasks.fuse.seen_sums import sum_of

__all__ = ["Rows", "rows_of", "taken_from_others", "which_are_wrong"]

Floats = npt.NDArray[np.float64]
#: How far the logarithm of a sum may be from what a mistake gives, and wrong rows that must show it.
_SAME, _LEAST = 2e-3, 2
#: Rows that share a block or a warp, and how far apart one and the next of a block's may be.
_GROUPS = (2, 4, 8, 16, 32)
_FARTHEST, _MOST_LOGITS = 160, 400_000
_LANES = 32
#: Below a maximum so much higher nothing is left of a row in float32.
_GONE = 80.0
#: Wrong rows that show that rows are wrong again and again.
_AGAIN = 3


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a launch.

    Attributes:
        top: The maximum of each (rows,).
        log: The logarithm of each one's sum of exponentials.
        seen: Of the sum that its probabilities were divided by; NaN where they do not tell.
        right: Whether it is right.
        V: Logits of each.
    """

    top: Floats
    log: Floats
    seen: Floats
    right: npt.NDArray[np.bool_]
    V: int


def rows_of(asked: Asked) -> Rows | None:
    """The rows of a launch of several; ``None`` where it has no answer, or is large.

    Args:
        asked: An answer.
    """
    logits, read, known = asked.question.logits, asked.read, asked.compared
    whole = read is not None and known is not None and asked.answer.status == "done"
    if not whole or len(logits) < 2 or logits.size > _MOST_LOGITS or asked.question.variant:
        return None
    assert read is not None
    assert known is not None
    wide = logits.astype(np.float64)
    top = wide.max(axis=1)
    log = top + np.log(np.exp(wide - top[:, None]).sum(axis=1))
    seen = np.full(len(logits), np.nan)
    for row in np.flatnonzero(known.chosen & (read.indices >= 0).all(axis=1)):
        found = sum_of(logits[row], logits[row, read.indices[row]], read.probabilities[row])
        seen[row] = np.nan if found is None else found.log
    return Rows(top, log, seen, known.right(LIMIT), logits.shape[1])


def taken_from_others(launches: Sequence[Rows]) -> str:
    """What rows take from others, as a clause; empty where nothing that is known gives all of their sums.

    Args:
        launches: Of which some row is wrong.
    """
    shown = sum(int((np.isfinite(each.seen) & ~each.right).sum()) for each in launches)
    if shown < _LEAST:
        return ""
    with np.errstate(all="ignore"):
        fits = (words for words, made in _mistakes() if _explains(made, launches))
        return next(fits, "")


def _explains(made: Callable[[Rows], Floats], launches: Sequence[Rows]) -> bool:
    """Whether a mistake gives all sums, some of which it makes wrong."""
    shown = 0
    for each in launches:
        sums = made(each)
        if not _gives(sums, each):
            return False
        shown += int((np.isfinite(each.seen) & ~each.right & (np.abs(sums - each.log) > _SAME)).sum())
    return shown >= _LEAST


def _gives(made: Floats, rows: Rows) -> bool:
    told = np.isfinite(rows.seen)
    return bool((np.abs(made[told] - rows.seen[told]) <= _SAME).all())


def _mistakes() -> Iterator[tuple[str, Callable[[Rows], Floats]]]:
    for group in _GROUPS:
        each = f"{group} rows next to each other"
        yield f"{each} share one maximum and one sum", lambda rows, n=group: _shared(rows.log, n)  # type: ignore[misc]
        yield (
            f"{each} add up to one sum, each below its own maximum",
            lambda rows, n=group: rows.top + _shared(rows.log - rows.top, n),  # type: ignore[misc]
        )
    for off in (1, -1, 2, -2, 4, -4):
        name = f"the row {abs(off)} {'behind' if off > 0 else 'before'} it"
        yield f"a row is divided by the sum of {name}", lambda rows, o=off: _moved(rows.log, o)  # type: ignore[misc]
        yield (
            f"a row takes the maximum of {name} for its own",
            lambda rows, o=off: _moved(rows.top, o) + rows.log - rows.top,  # type: ignore[misc]
        )
    for step in range(1, _FARTHEST):
        words = f"the sum of the row {step} before it, which the same block had, is still in a row's"
        yield words, lambda rows, n=step: _earlier(rows.log, n, 1)  # type: ignore[misc]
        yield (
            f"{words}, once in each lane",
            lambda rows, n=step: _earlier(rows.log, n, _LANES),  # type: ignore[misc]
        )


def _shared(logs: Floats, group: int) -> Floats:
    padded = np.pad(logs, (0, -len(logs) % group), constant_values=-np.inf).reshape(-1, group)
    return np.asarray(np.repeat(np.logaddexp.reduce(padded, axis=1), group)[: len(logs)])


def _moved(values: Floats, off: int) -> Floats:
    """Those of another row; its own where there is none."""
    places = np.arange(len(values)) + off
    inside = (places >= 0) & (places < len(values))
    return np.where(inside, values[np.where(inside, places, 0)], values)


def _earlier(logs: Floats, step: int, times: int) -> Floats:
    """With what stands of rows that lie whole steps before it, so many times."""
    found = logs.copy()
    for row in range(step, len(logs)):
        found[row] = np.logaddexp(logs[row], np.log(times) + found[row - step])
    return found


def _after(top: Floats, step: int) -> npt.NDArray[np.bool_]:
    """Rows that are far below the one so many before them."""
    found = np.zeros(len(top), dtype=bool)
    found[step:] = top[: len(top) - step] - top[step:] > _GONE
    return found


def which_are_wrong(launches: Sequence[Rows]) -> str:
    """Which rows of launches are wrong, as a clause; empty where none or all are, or no rule holds.

    A rule that holds of them all is told, or else one of the first.

    Args:
        launches: Of which some row is wrong.
    """
    told = [_rules(each) for each in launches]
    count = sum(int((~each.right).sum()) for each in launches)
    common = [words for words in told[0] if all(words in each for each in told[1:])] if told else []
    common = [words for words in common if count >= _AGAIN or not _repeats(words)]
    count = int((~launches[0].right).sum()) if launches else 0
    first = [words for words in told[0] if count >= _AGAIN or not _repeats(words)] if told else []
    words = next(iter(common or first), "")
    return f"{words} {'is' if words.endswith('row') else 'are'} wrong" if words else ""


def _repeats(words: str) -> bool:
    """Whether a rule says that rows are wrong again and again, as few are by chance."""
    return "row %" in words or "one in" in words


def _rules(rows: Rows) -> list[str]:
    """Which rows of a launch are wrong, in all ways in which it can be said, the likeliest first."""
    number, wrong = np.arange(len(rows.right)), ~rows.right
    if wrong.all() or not wrong.any():
        return []
    first = int(np.argmax(wrong))
    higher = np.maximum.accumulate(rows.top)
    rules: list[tuple[str, npt.NDArray[np.bool_]]] = [
        ("rows that begin off a 16-byte boundary", number * rows.V % 4 != 0),
        ("rows far below one before them", higher - rows.top > _GONE),
        (f"the rows from {first} on, each far below the one {first} before it,", _after(rows.top, first)),
        (f"the rows from {first} on" if first < len(wrong) - 1 else "the last row", number >= first),
        ("all rows but the first", number > 0),
    ]
    steps = np.diff(np.flatnonzero(wrong))
    if len(steps) and (steps == steps[0]).all() and steps[0] > 1:
        rules.append(
            (
                f"rows {first}, {first + steps[0]}, …, one in {steps[0]},",
                number % steps[0] == first % steps[0],
            )
        )
    for group in _GROUPS:
        rest = len(wrong) // group * group
        rules.append((f"the rows behind the last multiple of {group}", number >= rest))
        rules.append((f"rows with row % {group} = {first % group}", number % group == first % group))
        rules.append((f"rows with row % {group} > 0", number % group > 0))
        rules.append((f"the first of each {group} rows alone", number % group == 0))
        rules.append((f"rows in the second half of each {group}", number % group >= group // 2))
    return [words for words, which in rules if np.array_equal(which, wrong)]
