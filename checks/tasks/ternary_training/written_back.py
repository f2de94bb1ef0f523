"""Several small updates in a row: latent weights must add them up, whatever they are projected to.

What writes the projection over the latent weights, with every update or with some, multiplies by levels all
the same, and one large update does not show it. Small ones are then lost, as they never reach the next level.
"""

from __future__ import annotations

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.grouping import Grouping
from judge_tui.checks.tasks.ternary_training.held import Held
from judge_tui.checks.tasks.ternary_training.updates import Update, Written
from judge_tui.checks.tasks.ternary_training.updating import Array, Untried, Updating
from judge_tui.checks.tolerance import relative_error

__all__ = ["ADDED_UP", "ADDING_UP", "LOST", "are_levels", "hold_small_updates"]

ADDED_UP = "latent weights after small updates"
#: What is right of them, and what comes of their projection in their place.
ADDING_UP = "latent weights that were moved a little each time"
#: Updates in a row: what is done with every tenth is met as well. Their gradients' size.
_TIMES, _SIZE = 12, 1e-3
#: How far sizes in a group may be apart, relatively, to be one level, and groups that show it.
_SAME, _FEWEST = 1e-5, 8
LOST = "so that small updates never add up to the next level"


def hold_small_updates(updating: Updating, found: Findings, update: Update, *, renews: bool) -> None:
    """Hold what is left of the latent weights behind each of several small updates.

    Args:
        updating: Brings the layer there.
        found: What is found.
        update: How the layer is updated.
        renews: Whether it projects anew behind a large update.
    """
    if isinstance(update, Written):
        return
    try:
        told = _told(updating, update, renews=renews)
    except (Untried, Fault):
        return
    found.claim(
        ADDED_UP, not told, measured=told or ADDING_UP, limit=ADDING_UP,
        note=f"{update.target}; forward, backward, update, {_TIMES} times; gradients times {_SIZE:g}",
        file=update.file, line=update.line or None,
    )  # fmt: skip


def _told(updating: Updating, update: Update, *, renews: bool) -> str:
    """What is wrong with the latent weights behind one of several updates; empty for nothing.

    Raises:
        Untried: They cannot be read.
        Fault: A call raised, hung or ended the process.
    """
    layer, grouping = updating.layer, updating.compared.rule.grouping
    run, paths = updating.begun("small")
    before, x, bias = run.weight, run.x, run.bias
    gradients: list[Array] = []
    changes: list[Array] = []
    held: list[Array] = []
    for number in range(1, _TIMES + 1):
        if number > 1:
            run = layer.forward(before, x, bias=bias, on=run)
        name = f"small {number}"
        updating.step(update, run, paths, name, _SIZE)
        gradients.append(updating.gradient(update, run, name))
        held = Held(layer).changed(run, paths, before)
        if held and all(are_levels(each, grouping, layer.transposed) for each in held):
            when = "from the first on" if number == 1 else f"behind update {number}"
            return (
                f"they are levels themselves {when}, s·{{-1, 0, 1}} in each group: its projection is written "
                f"over them, {LOST}"
            )
        if len(held) == 1 and len(changes) < 2:
            changes.append(held[0] - before)
            if len(changes) == 2 and number == 2 and _forgets(changes, gradients):
                return "those before the first update less the newest gradient: earlier updates are lost"
    if renews and len(held) == 1 and updating.compared.apart_at_all(before, held[0]):
        effective = layer.effective(before, on=run)
        if updating.compared.fits(before, effective) and not updating.compared.fits(held[0], effective):
            return "moved, and it multiplies by the projection of those before: large ones alone renew it"
    return ""


def _forgets(changes: list[Array], gradients: list[Array]) -> bool:
    """Whether what two updates changed is what the second alone changes, by the share that the first went."""
    first, second = gradients
    share = float((changes[0] * first).sum() / max(float((first * first).sum()), 1e-300))
    fits = relative_error(changes[0], share * first) <= 1e-4
    return bool(share and fits and relative_error(changes[1], share * second) <= 1e-4)


def are_levels(latent: Array, grouping: Grouping, transposed: bool) -> bool:
    """Whether in each group all weights that are not 0 have one size, as only projected ones do.

    Args:
        latent: (out, in).
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """
    if not np.isfinite(latent).all():
        return False
    ids = grouping.ids((latent.shape[0], latent.shape[1]), transposed)
    size, largest = np.abs(latent), np.zeros(int(ids.max()) + 1)
    np.maximum.at(largest, ids, size)
    shown = size[size > 0]
    one = np.abs(size - largest[ids]) <= _SAME * largest[ids]
    several = bool(len(shown) >= latent.size // 8 and np.count_nonzero(largest) >= _FEWEST)
    return several and bool((one | (size == 0)).all())
