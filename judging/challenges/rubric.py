"""The rubric of a challenge that brings none: what any answer is judged by, capped by its own checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge_tui.checks.challenges.challenge import NUMBERS, Challenge
from judge_tui.judging.challenges.outline import outline
from judge_tui.judging.document import parse_toml, render_toml
from judge_tui.judging.rubric import CLAUSE, Rubric, parsed_rubric

__all__ = ["rubric_of", "rubric_text"]

#: Checks that are named in one cap at most.
_MOST = 12
_WRONG = "An answer that the challenge's own checks find wrong does not solve it, however it reads."
_EDGES = "A case that the challenge names one by one is no rare one."

_DIMENSIONS: tuple[dict[str, Any], ...] = (
    {
        "id": "correctness", "title": "Correctness", "key": "c", "weight": 3.0,
        "description": "Whether it does what the challenge asks, for every input that the challenge allows. "
        "The checks decide; reading tells what they cannot reach.",
        "levels": {
            60: "Right for the plain case alone, or wrong inside of what the challenge states.",
            75: "Right for ordinary input; an edge that the challenge names is missed.",
            85: "Right in every check; what they do not reach is argued or plainly handled.",
            95: "As 85, and it says why it is right: invariants stated, bounds proved or tested.",
        },
    },
    {
        "id": "robustness", "title": "Robustness", "key": "r", "weight": 1.5,
        "description": "What it does with the smallest, the largest and the wrong: empty input, ties, "
        "overflow, values that are no numbers, misuse.",
        "levels": {
            60: "Breaks or lies at an edge that anybody would try.",
            75: "Survives the common edges; others fail without a word.",
            85: "Edges are handled or refused by an error that says what is wrong.",
            95: "As 85, and the edges are tested in the answer itself.",
        },
    },
    {
        "id": "efficiency", "title": "Efficiency", "key": "f", "weight": 1.5,
        "description": "Time and memory against the size of the input, and whether the problem needs that.",
        "levels": {
            60: "A power of the input's size above what the problem needs.",
            75: "The right order of growth with avoidable passes or copies.",
            85: "The right order, one pass where one suffices, no copies without need.",
            95: "As 85, with costs stated and held by measurement or argument.",
        },
    },
    {
        "id": "code_quality", "title": "Code quality", "key": "e", "weight": 1.0,
        "description": "Whether it can be read, changed and trusted: names, parts, borders, no dead code.",
        "levels": {
            60: "One block; names that say nothing; dead or doubled code.",
            75: "Parts that can be told apart; some names mislead, some conditions need a second look.",
            85: "Small parts with true names, types or contracts at their borders.",
            95: "As 85, and nothing could be left out.",
        },
    },
    {
        "id": "explanation", "title": "Explanation and tests", "key": "t", "weight": 1.0,
        "description": "What the answer says of itself: the idea, its limits, and what it asserts.",
        "levels": {
            60: "Nothing, or a restatement of the code.",
            75: "The idea is told; limits and reasons are not, tests show instead of asserting.",
            85: "Idea, limits and choices are told; tests assert what matters.",
            95: "As 85, with tests that would catch the mistakes that the problem invites.",
        },
    },
)  # fmt: skip
_GRADES = ({"letter": "A", "min": 90}, {"letter": "B", "min": 80}, {"letter": "C", "min": 70},
           {"letter": "D", "min": 60}, {"letter": "F", "min": 0})  # fmt: skip
_EDGE_CHECKS = frozenset({"edge_cases", "errors"})
#: Checks of any answer, and of what is called by the challenge alone.
_ANY, _CALLED = frozenset({"size", "loads", "own_tests"}), frozenset({"purity", "throughput"})
_INFORM = {"robustness": ("edge_cases", "errors", "purity"), "efficiency": ("throughput",),
           "code_quality": ("size", "loads"), "explanation": ("own_tests",)}  # fmt: skip


def rubric_of(challenge: Challenge) -> Rubric:
    """The default rubric of a challenge.

    Args:
        challenge: The challenge; one of no kind has no caps but for what does not load.
    """
    text = rubric_text(challenge)
    return parsed_rubric(parse_toml(text.encode(), Path(f"{challenge.id}.toml")))


def rubric_text(challenge: Challenge) -> str:
    """The same as the text of a file, to begin one's own with."""
    about = outline(challenge)
    named = [check for check in about.checks if CLAUSE.fullmatch(f"{check} fails")]
    has = {*about.checks, *_ANY, *(_CALLED if NUMBERS in about.kinds else ())}
    informed = {**_INFORM, "correctness": about.checks}
    dimensions = [
        _dimension(each, [check for check in informed[each["id"]] if check in has]) for each in _DIMENSIONS
    ]
    caps = [_cap(("loads",), "correctness", 50, "What does not load was not judged by running it.")]
    if wrong := [check for check in named if check not in _EDGE_CHECKS][:_MOST]:
        caps.append(_cap(wrong, "correctness", 60, _WRONG))
    if edges := [check for check in named if check in _EDGE_CHECKS]:
        caps.append(_cap(edges, "correctness", 75, _EDGES))
    head = {"task": challenge.id, "title": _one_line(about.title), "version": 1}
    return render_toml({**head, "dimension": dimensions, "cap": caps, "grade": list(_GRADES)})


def _dimension(told: dict[str, Any], checks: Sequence[str]) -> dict[str, Any]:
    """A dimension as a file has it: what is a table in it stands last."""
    plain = {key: value for key, value in told.items() if key != "levels"}
    levels = {str(score): text for score, text in told["levels"].items()}
    return {**plain, "checks": list(checks), "levels": levels}


def _cap(checks: Any, dimension: str, most: int, reason: str) -> dict[str, Any]:
    condition = " or ".join(f"{check} fails" for check in checks)
    return {"if": condition, "dimension": dimension, "max": most, "reason": reason}


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()[:200]
