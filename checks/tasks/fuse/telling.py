"""What a wrong launch is told as: on which condition rows are wrong, what is wrong with them, an example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.fuse.answered_rows import Row
from judge_tui.checks.tasks.fuse.asking import Asked
from judge_tui.checks.tasks.fuse.at_ends import wrong_at_ends
from judge_tui.checks.tasks.fuse.behind import behind_others
from judge_tui.checks.tasks.fuse.between_blocks import raced
from judge_tui.checks.tasks.fuse.by_entry import (
    from_place,
    nothing_left,
    own_maxima,
    past_the_end,
    taken_again,
    values_alone,
)
from judge_tui.checks.tasks.fuse.choices import chosen_instead
from judge_tui.checks.tasks.fuse.conditions import Condition, condition, met_by
from judge_tui.checks.tasks.fuse.elsewhere import out_of_range
from judge_tui.checks.tasks.fuse.families import FAR
from judge_tui.checks.tasks.fuse.far_places import far_places
from judge_tui.checks.tasks.fuse.kept import kept_from_launches
from judge_tui.checks.tasks.fuse.missing_entries import as_it_is
from judge_tui.checks.tasks.fuse.other_rows import rows_of, taken_from_others, which_are_wrong
from judge_tui.checks.tasks.fuse.output_strides import rows_apart
from judge_tui.checks.tasks.fuse.rounding import rounded
from judge_tui.checks.tasks.fuse.sums import sums_off, wrong_chunks, wrong_sum
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.tasks.fuse.unwritten_reads import read_unwritten
from judge_tui.checks.tasks.fuse.widths import longest_right, wrong_widths

__all__ = ["explained"]

#: Rows that are looked at, and logits of all of them.
_MOST_ROWS, _MOST_LOGITS = 60, 400_000
#: Differences about which exponentials in float32 overflow, sums of some thousands too, and vanish.
_LEAVES = (76.0, 106.0)
#: What rounding a number to float32 costs, relatively, and twice that of what follows from it.
_UNITS = 3 * 2.0**-24


def explained(
    bench: Bench,
    found: Findings,
    settled: Settled,
    asked: Sequence[Asked],
    wrong: Sequence[Asked],
    where: str = "",
) -> str:
    """The summary of a check of which launches are wrong.

    Args:
        bench: Where it is judged.
        found: Is told.
        settled: How the submission is launched.
        asked: All answers of the check.
        wrong: Those that are wrong, the one first that is told.
        where: Of the first one, in front of what is wrong.
    """
    told = _explained(bench, found, settled, asked, wrong, where)
    return f"{told}{_ending(read_unwritten(wrong, asked), '; ')}"


def _explained(
    bench: Bench,
    found: Findings,
    settled: Settled,
    asked: Sequence[Asked],
    wrong: Sequence[Asked],
    where: str,
) -> str:
    first = wrong[0]
    if kept := kept_from_launches(bench, found, settled, first):
        return f"{first.question.label} ({first.question.shape}){where}: {kept}: {first.wrong}"
    if race := raced(wrong, asked):
        return f"{first.question.label} ({first.question.shape}){where}: {first.wrong}: {race}"
    if apart := next(filter(None, map(rows_apart, wrong)), ""):
        return f"{first.question.label} ({first.question.shape}){where}: {first.wrong}: {apart}"
    why = wrong_sum(bench, found, settled, wrong)
    why = why or _ending(_rounding(wrong)) or _ending(own_maxima(wrong) or rounded(wrong))
    plain = first.answer.status == "done" and not first.question.variant
    launches = [rows for each in wrong if (rows := rows_of(each)) is not None]
    several = len(launches) == len(wrong)
    if several and plain:
        why = why or _ending(taken_from_others(launches))
    if why or not plain or first.compared is None:
        return f"{first.question.label} ({first.question.shape}){where}: {first.wrong}{why}"
    # all that is known of what is wrong where no mistake gives it
    chosen = sums_off(wrong) if first.compared.chosen.all() else _chosen(first, asked, wrong)
    cause = condition(bench, settled, asked)
    if cause is None:
        widths = wrong_widths(bench, found, settled)
        chosen = "" if _rest_is_told(widths) and chosen.startswith("the last V %") else chosen
        told = f"{first.wrong}: {chosen}" if chosen else first.wrong
        which = which_are_wrong(launches) if several and not widths else ""
        which = wrong_chunks(bench, found, settled, wrong, longest_right(bench)) or _ending(which, "; ")
        which += "" if widths or which else _ending(wrong_at_ends(asked), "; ")
        which += _ending(behind_others(bench, settled, first), "; ")
        return f"{first.question.label} ({first.question.shape}){where}: {told}{widths}{which}"
    launcher = settled.launcher
    example = met_by(cause, wrong) or first
    found.note(
        "wrong where", cause.words, file=launcher.file, line=launcher.line or None,
        note=f"Rows that are plain otherwise, of {cause.family.name}: right with {cause.right:g}, "
        f"wrong with {cause.wrong:g}.",
    )  # fmt: skip
    place = far_places(bench, settled) if cause.family is FAR else ""
    if place:
        return f"wrong where {cause.words}, and {place}: {example.wrong} ({_example(example)})"
    told = f"{chosen} ({_example(example)})" if chosen else f"{example.wrong} ({_example(example)})"
    return f"wrong where {cause.words}{_out_of_range(cause, example)}: {told}"


def _out_of_range(cause: Condition, example: Asked) -> str:
    """Whether it is where exponentials in float32 overflow, or all vanish, as a clause."""
    known, read = example.compared, example.read
    if cause.family is not FAR or known is None or read is None or not known.chosen.all():
        return ""
    broken = not np.isfinite(read.probabilities).all() and _LEAVES[0] < cause.wrong < _LEAVES[1]
    return ", and exp(x − m) leaves float32's range: m is not the row's maximum" if broken else ""


def _chosen(first: Asked, asked: Sequence[Asked], wrong: Sequence[Asked]) -> str:
    """What was chosen in place of the K largest: a mistake, or which entries are wrong."""
    told = (
        _stray(first)
        or past_the_end(first)
        or nothing_left(first)
        or taken_again(first)
        or chosen_instead(_rows(asked))
    )
    return told or values_alone(wrong) or as_it_is(_rows([first])) or from_place(first)


def _rest_is_told(widths: str) -> bool:
    """Whether it is known by rows of many V how many of a row's last logits are lost."""
    return "of a long row never" in widths or "behind the last multiple" in widths


def _rounding(wrong: Sequence[Asked]) -> str:
    """Whether all are off by what a log-sum-exp in float32 loses at so large logits, as a clause."""
    for each in wrong:
        known, tops = each.compared, np.abs(each.question.logits.max(axis=1))
        if known is None or not known.chosen.all() or not (known.error <= _UNITS * tops).all():
            return ""
    return (
        "as much as rounding the log-sum-exp to float32 costs at so large logits, "
        "where the maximum is in it: exp(x − lse) in place of exp(x − max) / sum"
    )


def _ending(words: str, mark: str = ": ") -> str:
    return f"{mark}{words}" if words else ""


def _example(asked: Asked) -> str:
    return f"{asked.question.label}, {asked.question.shape}"


def _stray(asked: Asked) -> str:
    """What the first row's indices are instead that are out of range."""
    if asked.compared is None or asked.read is None:
        return ""
    row = int(np.argmin(asked.compared.chosen))
    if not asked.compared.outside[row]:
        return ""
    return out_of_range(asked.question.logits[row], asked.read.indices[row], row)


def _rows(asked: Sequence[Asked]) -> Iterator[Row]:
    """Rows with indices in range and none twice, wrong ones first."""
    left, size = _MOST_ROWS, _MOST_LOGITS
    for right in (False, True):
        for each in asked:
            known, read = each.compared, each.read
            if known is None or read is None or each.answer.status != "done" or each.question.variant:
                continue
            whole = (known.unwritten + known.outside + known.doubled + known.blank) == 0
            for number in np.flatnonzero(whole & (known.chosen == right))[: _MOST_ROWS // 6]:
                logits: npt.NDArray[np.float32] = each.question.logits
                left, size = left - 1, size - logits.shape[1]
                if left < 0 or size < 0:
                    return
                yield Row(logits[number], read.indices[number], int(number), logits)
