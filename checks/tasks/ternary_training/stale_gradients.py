"""The gradient of the input after an update: does it go through the weights that the forward multiplied by?

A layer may keep its projection twice, in one layout for its forward and in another for its backward. After an
update both must be made anew, whoever asks first: a forward in training, or an evaluation on the way.
"""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.layer import Gradients, Run
from judge_tui.checks.tasks.ternary_training.modes import Mode
from judge_tui.checks.tasks.ternary_training.updates import Update, Written, refreshing
from judge_tui.checks.tasks.ternary_training.updating import Array, Untried, Updating
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["GRADIENT", "hold_gradient"]

GRADIENT = "gradient of the input after an update"
_RIGHT = "through the weights of the forward before it"
#: Rounding of float32 stays far below it, a projection of other weights far above.
_LIMIT = 1e-3


def hold_gradient(updating: Updating, found: Findings, update: Update, evaluations: Iterable[Mode]) -> None:
    """Hold dx after an update to dy times what the layer multiplies by, also with an evaluation between.

    Args:
        updating: Brings the layer there; its forward is right after the update.
        found: What is found.
        update: How the layer is updated.
        evaluations: The ways in which it evaluates.
    """
    if "backward" not in updating.bench.bindings:
        return
    for mode in (None, *evaluations):
        try:
            told = _told(updating, update, mode)
        except (Untried, Fault):
            continue
        between = f", an evaluation ({mode.told})" if mode else ""
        owner = updating.layer.binding.name.rpartition(".")[0]
        # what its training calls besides may make both anew
        sure = not isinstance(update, Written) and not any(
            name != update.name.rpartition(".")[2]
            for name in refreshing(updating.bench, updating.layer.binding.file, owner)
        )
        found.claim(
            GRADIENT + (", with an evaluation between" if mode else ""), not told,
            measured=told or _RIGHT, limit=_RIGHT, otherwise=Verdict.FAIL if sure else Verdict.WARN,
            note=f"{update.target}; forward, backward, update{between}, forward, backward on one layer",
            file=update.file, line=update.line or None,
        )  # fmt: skip


def _told(updating: Updating, update: Update, mode: Mode | None) -> str:
    """What dx goes through instead, in words; empty where it is right.

    Raises:
        Untried: There is no dx, a fresh one is wrong, or the update shows nothing.
        Fault: A call raised, hung or ended the process.
    """
    layer = updating.layer
    name = "gradient" if mode is None else f"gradient {mode.told}"
    run, paths = updating.begun(name)
    before = layer.effective(run.weight)
    fresh = updating.step(update, run, paths, name)
    if _off(fresh, updating.dy(name), before):
        raise Untried("its first gradient of the input is another one")
    if mode is not None:
        mode.turn(layer, run).forward(run.weight, run.x, bias=run.bias, on=run)
        mode.turn_back(layer, run)
    again: Run = layer.forward(run.weight, run.x, bias=run.bias, on=run)
    dy = updating.dy(f"{name} again")
    given = layer.backward(again, dy)
    latent = updating.moved(again, paths, run.weight)
    now = layer.effective(run.weight, on=again)
    if not updating.compared.fits(latent, now):
        raise Untried("it projects on demand")
    if not _off(given, dy, now):
        return ""
    if not _off(given, dy, before):
        return "through the projection of the weights before it, as it was kept for the backward"
    return "through other weights than those that its forward multiplied by"


def _off(given: Gradients | None, dy: Array, weight: Array) -> bool:
    """Whether dx is not dy times these weights.

    Raises:
        Untried: There is no dx.
    """
    if given is None or given.dx is None:
        raise Untried("it gives no gradient of the input")
    return not relative_error(given.dx, dy @ weight) <= _LIMIT
