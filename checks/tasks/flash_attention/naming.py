"""What mistake a wrong forward makes, by all that is known of its answers."""

from __future__ import annotations

from judge_tui.checks.tasks.flash_attention.blocks import spoken_against
from judge_tui.checks.tasks.flash_attention.earlier import of_an_earlier_call
from judge_tui.checks.tasks.flash_attention.exchanged import exchanged
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.hiding import outweighed_hiding
from judge_tui.checks.tasks.flash_attention.laid_wrongly import laid_wrongly
from judge_tui.checks.tasks.flash_attention.left_in_rows import left_in_rows
from judge_tui.checks.tasks.flash_attention.lost_values import lost_values
from judge_tui.checks.tasks.flash_attention.merging import wrong_merge
from judge_tui.checks.tasks.flash_attention.mixed_columns import few_features, mixed_columns
from judge_tui.checks.tasks.flash_attention.regions import wrong_regions
from judge_tui.checks.tasks.flash_attention.rows import FAR_BELOW, HIGH, Rows
from judge_tui.checks.tasks.flash_attention.starts import start_of_the_maximum
from judge_tui.checks.tasks.flash_attention.streams import late_rescaling
from judge_tui.checks.tasks.flash_attention.weighing import mistake, outline
from judge_tui.checks.tasks.flash_attention.weights import readings
from judge_tui.checks.verdict import Verdict

__all__ = ["named", "outweighed"]

#: Scores this far apart have maxima that rise by more than code may put off.
_FAR = 6.0


def named(forward: Forward, rows: Rows) -> str:
    """The mistake, as a clause; for a forward that was seen wrong.

    Args:
        forward: What is called.
        rows: Its answers to float64 input.

    Returns:
        Empty where nothing is known.
    """
    if known := laid_wrongly(forward, rows.held):
        return known
    if known := exchanged(forward) or of_an_earlier_call(forward):
        return known
    if known := wrong_regions(forward, rows.held):
        return mixed_columns(forward, rows.held) or known
    read = readings(forward, rows.held)
    right = [held.case for held in rows.held if held.verdict is not Verdict.FAIL and held.case.plain]
    known = mistake(read)
    known = "" if known and spoken_against(known, right) else known
    if not known and read:
        known = late_rescaling(readings(forward, rows.held, spread=_FAR))
    known = known or lost_values(read, [one.value for one in forward.bench.integers])
    known = known or outweighed(forward, rows) or wrong_merge(forward) or left_in_rows(forward)
    known = known or mixed_columns(forward, rows.held) or few_features(forward, rows.held)
    return known or outline(read)


def outweighed(forward: Forward, rows: Rows) -> str:
    """What hides keys or what a maximum starts from, where special scores alone are wrong, as a clause."""
    wrong = [held.case for held in rows.held if held.verdict is Verdict.FAIL]
    if not wrong:
        return ""
    names = {case.name for case in wrong}
    low = not any(case.plain for case in wrong) and names & FAR_BELOW and HIGH not in names
    return outweighed_hiding(forward, wrong) or (start_of_the_maximum(forward) if low else "")
