"""What projected weights are that are no s·{-1, 0, 1} with s = mean|W|: mistakes, read off the answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_tui.checks.size_conditions import only_where
from judge_tui.checks.tasks.ternary_training.altered import alterations
from judge_tui.checks.tasks.ternary_training.explained import few_of, which
from judge_tui.checks.tasks.ternary_training.grouping import groupings, mean_scale, scales
from judge_tui.checks.tasks.ternary_training.levels import LIMIT, Answer, Rule, distance, settled
from judge_tui.checks.tasks.ternary_training.other_calls import kept_from_others
from judge_tui.checks.tasks.ternary_training.rearranged import rearranged
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.tasks.ternary_training.scale_places import other_groups
from judge_tui.checks.tasks.ternary_training.scale_values import scale_of_groups

__all__ = ["cause"]


def cause(answers: Sequence[Answer], transposed: bool) -> str:
    """What the projected weights are instead, as a clause; empty for what is not a known mistake."""
    finite = [a for a in answers if np.isfinite(a.projected).all()]
    if len(finite) < len(answers):
        if not _only_zero_groups(answers, transposed):
            return "not finite"
        astray = bool(finite) and max(settled(finite, transposed)[1]) > LIMIT
        why = cause(finite, transposed) if astray else ""
        return f"{why}; not finite for groups of zeros" if why else "an all-zero group divides by its scale"
    if all(not a.projected.any() for a in answers):
        return "every weight is 0"
    if all(np.allclose(a.projected, a.draw.weight, rtol=1e-5, atol=1e-8) for a in answers):
        return "the latent weights as they are: nothing is projected"
    rules = [list(scales(a.draw.weight, transposed, GROUP)) for a in answers]
    for rule in zip(*rules, strict=True):
        if all(distance(a, scale) <= LIMIT for a, scale in zip(answers, rule, strict=True)):
            return f"s is {rule[0].name}, {rule[0].grouping.name}"
    if altered := _altered(answers, transposed):
        return altered
    if told := _elsewhere(answers, transposed):
        return told
    if _multiples(answers, transposed):
        return "levels past ±1: weights beyond 1.5·s are not clipped"
    return _of_sizes(answers, transposed)


def _of_sizes(answers: Sequence[Answer], transposed: bool) -> str:
    """What is wrong at some sizes alone, and what those have in common; empty where all are wrong."""
    by_grouping = (
        [distance(a, mean_scale(a.draw.weight, grouping, transposed)) for a in answers]
        for grouping in groupings(transposed, GROUP)
    )
    off = max(by_grouping, key=lambda each: sum(error <= LIMIT for error in each))
    wrong = [a for a, error in zip(answers, off, strict=True) if error > LIMIT]
    if not wrong or len(wrong) == len(answers):
        return ""
    why = cause(wrong, transposed)
    if all(not a.draw.even for a in wrong):
        told = f"right where 128 divides the width, wrong at {wrong[0].draw.weight.shape}"
        return f"{told}: {why}" if why else told
    sizes = [dict(zip(("out", "in"), a.draw.weight.shape, strict=True)) for a in answers]
    right = [error <= LIMIT for error in off]
    told = only_where(zip(sizes, right, strict=True), compared=[("out", "in")], limits=True)
    if not told and not why:
        return ""
    return "; ".join(filter(None, (why, told or f"wrong at {wrong[0].draw.weight.shape} first")))


def _elsewhere(answers: Sequence[Answer], transposed: bool) -> str:
    """Which places right ones were taken from, or which alone are wrong; empty where neither is known."""
    for grouping in groupings(transposed, GROUP):
        rule = Rule(grouping)
        if told := rearranged([(rule.projected(a.draw.weight, transposed), a.projected) for a in answers]):
            return told
        pairs = few_of([(a.draw.weight, a.projected) for a in answers], grouping, transposed)
        if told := other_groups(pairs, GROUP):
            return told
        for explanation in (kept_from_others, scale_of_groups, which):
            if told := explanation(pairs, grouping, transposed):
                return told
    return ""


def _only_zero_groups(answers: Sequence[Answer], transposed: bool) -> bool:
    for answer in answers:
        bad = ~np.isfinite(answer.projected)
        for grouping in groupings(transposed, GROUP):
            s = mean_scale(answer.draw.weight, grouping, transposed).values
            if not (s[bad] > 0).any():
                break
        else:
            return False
    return True


def _altered(answers: Sequence[Answer], transposed: bool) -> str:
    """How the weights were altered before they were projected, as a clause; empty where none explains it."""
    pairs = [(a.draw.weight, a.projected) for a in answers]
    for grouping in groupings(transposed, GROUP):
        for words, altered in alterations(pairs, grouping, transposed):
            if all(
                distance(a, mean_scale(altered(a.draw.weight), grouping, transposed)) <= LIMIT
                for a in answers
            ):
                return f"they are the projection of the latent weights {words}"
    return ""


def _multiples(answers: Sequence[Answer], transposed: bool) -> bool:
    for grouping in groupings(transposed, GROUP):
        fine = True
        for answer in answers:
            s = mean_scale(answer.draw.weight, grouping, transposed).values
            level = answer.projected / np.where(s > 0, s, 1.0)
            fine = fine and bool(np.max(np.abs(level - np.round(level))) < 1e-4)
        if fine:
            return True
    return False
