"""At which places a logit far above all others is answered wrongly: what a maximum does not reach."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.fuse.asking import LIMIT, Question, ask, usual
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["far_places", "unreached"]

Places = npt.NDArray[np.bool_]
#: Logits of the row, rows of one launch, and how far the largest is above: exp of it is
#: beyond float32, and that of the others by no more than tells them apart.
_V, _ROWS, _ABOVE = 1100, 32, 90.0
#: Places that tell rules apart: about powers of two, and some at random.
_NEAR, _SOME = 2, 24
_SECONDS, _LEFT = 25.0, 50.0
_THREADS = (1024, 512, 256, 128, 64, 32)


def far_places(bench: Bench, settled: Settled) -> str:
    """The places at which such a logit is wrong, as a clause; empty where all are, or none, or no rule holds.

    Args:
        bench: Where it is judged.
        settled: How the submission is launched.
    """
    K = usual(settled, 5, most=_V)
    if bench.left < _LEFT or K > _V:
        return ""
    rng = bench.rng("far places")
    about = {(1 << bit) + off for bit in range(1, 11) for off in range(-_NEAR, _NEAR)}
    places = np.array(sorted({*about, *rng.permutation(_V)[:_SOME].tolist()}))
    rows = rng.random((len(places), _V)).astype(np.float32)
    rows[np.arange(len(places)), places] += np.float32(_ABOVE)
    questions = [
        Question("far above", np.ascontiguousarray(rows[start : start + _ROWS]), K)
        for start in range(0, len(places), _ROWS)
    ]
    try:
        asked = ask(bench, settled, questions, seconds=_SECONDS)
    except Skipped:
        return ""
    if any(each.compared is None or each.answer.status != "done" for each in asked):
        return ""
    right = np.concatenate([each.compared.right(LIMIT) for each in asked if each.compared is not None])
    told = unreached(places, ~right)
    return f"right where the largest has {told}: the maximum is that of these alone" if told else ""


def unreached(places: npt.NDArray[np.int64], wrong: Places) -> str:
    """Which places are right, in words behind "has"; empty where all are, or none, or no rule holds.

    Args:
        places: That were looked at.
        wrong: Of each whether it is wrong.
    """
    if wrong.all() or not wrong.any():
        return ""
    for words, reached in _rules(places):
        if np.array_equal(reached, ~wrong):
            return words
    return ""


def _rules(places: npt.NDArray[np.int64]) -> Iterator[tuple[str, Places]]:
    for bit in range(2, 5):
        yield f"an index below {1 << bit}", places < 1 << bit
    for name, of in (("index", places), ("(index / 4)", places // 4)):
        for threads in _THREADS:
            for part in (1 << bit for bit in range(threads.bit_length() - 1)):
                yield f"{name} % {threads} < {part}", of % threads < part
                yield f"{name} % {part * 2} < {part}", of % (part * 2) < part
        for lane in (2, 4, 8, 16, 32):
            yield f"{name} % {lane} = 0", of % lane == 0
    for bit in range(5, 11):
        yield f"an index below {1 << bit}", places < 1 << bit
