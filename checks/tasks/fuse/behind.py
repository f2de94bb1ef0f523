"""Rows that are wrong because of what other rows of their launch hold: by themselves they are right."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.fuse.asking import LIMIT, Asked, Question, ask
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["behind_others"]

#: Wrong rows that are launched by themselves, and what the launches may take.
_ALONE, _SECONDS, _LEFT, _MOST_LOGITS = 3, 40.0, 60.0, 400_000


def behind_others(bench: Bench, settled: Settled, asked: Asked) -> str:
    """Whether wrong rows of a launch are right where no other rows are, and in front of them, as a clause.

    Args:
        bench: Where it is judged.
        settled: How the submission is launched.
        asked: A wrong answer of several rows.
    """
    question, known = asked.question, asked.compared
    if known is None or len(question.logits) < 2 or question.logits.size > _MOST_LOGITS or question.variant:
        return ""
    right = known.right(LIMIT)
    wrong = np.flatnonzero(~right)
    if not len(wrong) or not right.any() or bench.left < _LEFT:
        return ""
    order, row = np.concatenate([wrong, np.flatnonzero(right)]), wrong[0]
    questions = [Question("alone", question.logits[each : each + 1], question.K) for each in wrong[:_ALONE]]
    for label, logits in (
        ("copies", np.repeat(question.logits[row : row + 1], len(right), axis=0)),
        ("in front", question.logits[order]),
    ):
        questions.append(Question(label, np.ascontiguousarray(logits), question.K))
    try:
        *alone, copies, front = ask(bench, settled, questions, seconds=_SECONDS)
    except Skipped:
        return ""
    # what hangs on a row's number is wrong among copies too
    if not all(each.right for each in alone) or not copies.right:
        return ""
    first = int(min(len(wrong), row))
    if first and front.answer.status == "done" and front.compared is not None:
        if front.compared.right(LIMIT)[:first].all():
            return (
                "each is right by itself, among its copies and in front of the others: something of a row "
                "that its block had before is still there, and not set anew for each row"
            )
    return "each is right by itself and among its copies: it takes something from other rows"
