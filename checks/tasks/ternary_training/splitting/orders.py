"""Whether two parts are cut out of two orders of one whole."""

from __future__ import annotations

from dataclasses import dataclass

from judge_tui.checks.tasks.ternary_training.splitting.rows import Drawn, Key, Rows, Step

__all__ = ["Apart", "Lead", "apart"]


@dataclass(frozen=True, slots=True)
class Lead:
    """How a part begins to differ from another one of its whole.

    Attributes:
        order: The order that it is cut out of; ``None`` where it is cut as it stands.
        cut: The cut, or the draw.
    """

    order: Step | None
    cut: Step


@dataclass(frozen=True, slots=True)
class Apart:
    """Two parts that are cut out of two orders of one whole.

    Attributes:
        one: How the first is cut.
        other: How the second is.
        certain: Whether those are two orders beyond doubt.
    """

    one: Lead
    other: Lead
    certain: bool


def apart(one: Rows, other: Rows) -> Apart | None:
    """How two parts of one whole are cut out of two orders of it; ``None`` where nothing says so."""
    if one.of != other.of:
        return None
    shared = 0
    for a, b in zip(one.steps, other.steps, strict=False):
        if a != b:
            break
        shared += 1
    mine, its = _lead(one.steps[shared:]), _lead(other.steps[shared:])
    if mine is None or its is None:
        return None
    certain = _differ(mine, its)
    return None if certain is None else Apart(mine, its, certain)


def _lead(steps: tuple[Step, ...]) -> Lead | None:
    """The first order before the first cut, and that cut; ``None`` where it is not known of what."""
    order: Step | None = None
    for step in steps:
        if step.kind == "through":
            return None
        if step.kind == "drawn":
            return Lead(order or step, step)
        if step.kind == "cut":
            return Lead(order, step)
        order = order or step
    return None


def _differ(one: Lead, other: Lead) -> bool | None:
    """Whether two orders differ: True, False where it only looks so, ``None`` where they may be one."""
    known = [lead.order for lead in (one, other) if lead.order is not None]
    # What is picked at random again and again, for both, is made up and not split.
    if not known or one.cut.kind == other.cut.kind == "drawn":
        return None
    sure = all(order.sure and isinstance(order.key, Drawn) for order in known)
    if len(known) == 1:
        return sure
    keys = [order.key for order in known]
    told = _drawn_apart(keys[0], keys[1]) if all(isinstance(key, Drawn) for key in keys) else False
    return None if told is None else told and sure


def _drawn_apart(one: Key, other: Key) -> bool | None:
    assert isinstance(one, Drawn)
    assert isinstance(other, Drawn)
    if one.generator == other.generator:
        return True
    if one.source == other.source:
        # Made anew with one seed; what else was drawn in between is not known for sure.
        return None
    (kind, seed), (other_kind, other_seed) = one.source, other.source
    # Whoever calls two functions may give both the same, and a state that is restored goes on as before.
    if "restored" in (kind, other_kind) or _given_to(seed) != _given_to(other_seed):
        return None
    if "fresh" in (kind, other_kind):
        return True
    constant = _is_constant(seed) and _is_constant(other_seed)
    return kind == other_kind == "seed" and (constant or _is_moved(seed, other_seed))


def _given_to(key: Key) -> frozenset[Key]:
    """The functions of whose parameters something is made."""
    if not isinstance(key, tuple):
        return frozenset()
    if key[:1] == ("parameter",):
        return frozenset(key[1:2])
    return frozenset().union(*map(_given_to, key))


def _is_constant(key: Key) -> bool:
    return isinstance(key, tuple) and key[:1] == ("constant",)


def _is_moved(seed: Key, other: Key) -> bool:
    """Whether one seed is the other and a constant."""
    return any(
        isinstance(a, tuple) and a[:2] == ("op", "Add") and a[2] == b and _is_constant(a[3])
        for a, b in ((seed, other), (other, seed))
    )
