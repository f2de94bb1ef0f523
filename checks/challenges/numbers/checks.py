"""The checks that a ``challenge.py`` makes."""

from __future__ import annotations

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.numbers.accuracy import accuracy, edge_cases
from judge_tui.checks.challenges.numbers.errors import errors
from judge_tui.checks.challenges.numbers.forbidden import forbidden
from judge_tui.checks.challenges.numbers.gradients import gradients
from judge_tui.checks.challenges.numbers.properties import claim_of
from judge_tui.checks.challenges.numbers.truths import Truths
from judge_tui.checks.check import Check

__all__ = ["checks_of"]


def checks_of(challenge: Challenge, truths: Truths) -> tuple[Check, ...]:
    """The checks of a challenge of numbers.

    Args:
        challenge: The challenge.
        truths: The author's inputs and answers.
    """
    numbers, seconds = truths.numbers, challenge.settings.limits.seconds
    own = [accuracy(truths, seconds)]
    if "edge_cases" in numbers.functions:
        own.append(edge_cases(truths, seconds))
    if "error_cases" in numbers.functions:
        own.append(errors(truths, seconds))
    if numbers.gradients:
        own.append(gradients(truths, seconds))
    if numbers.forbidden:
        own.append(forbidden(numbers.forbidden))
    claims = truths.numbers.properties.items()
    return (*own, *(claim_of(truths, name, doc, seconds) for name, (_line, doc) in claims))
