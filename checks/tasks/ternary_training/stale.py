"""The layer after its own update: does it multiply by the projection of the weights that it holds by then?

A layer that keeps its projection, or a part of it, must notice that its latent weights have changed. A
fresh layer cannot show that: its weights are set once. Here it runs forward and backward, updates
itself, and runs forward again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.comparison import Comparison
from judge_tui.checks.tasks.ternary_training.held import Held, instance
from judge_tui.checks.tasks.ternary_training.layer import Layer
from judge_tui.checks.tasks.ternary_training.levels import Rule
from judge_tui.checks.tasks.ternary_training.modes import Mode, modes
from judge_tui.checks.tasks.ternary_training.moving import hold_direction
from judge_tui.checks.tasks.ternary_training.outside import Outside, outside, shut
from judge_tui.checks.tasks.ternary_training.roles import FORWARD
from judge_tui.checks.tasks.ternary_training.stale_gradients import hold_gradient
from judge_tui.checks.tasks.ternary_training.steps import hold_optimisers, hold_step
from judge_tui.checks.tasks.ternary_training.training_writes import hold_training
from judge_tui.checks.tasks.ternary_training.updates import (
    Update,
    Written,
    handed,
    refreshing,
    updates,
    written,
)
from judge_tui.checks.tasks.ternary_training.updating import Untried, Updated, Updating
from judge_tui.checks.tasks.ternary_training.written_back import hold_small_updates
from judge_tui.checks.verdict import Verdict

__all__ = ["AFTER_UPDATE", "IN_PLACE", "after_updates"]

Array = npt.NDArray[Any]

AFTER_UPDATE = "projected weights after an update"
IN_PLACE = "projected weights after an update in place"
_EVALUATED = f"{AFTER_UPDATE}, in an evaluation that is not its first"

#: Seconds for one call of an update: it is a sum of two small matrices.
_SECONDS = 5.0
_MOST_UPDATES = 4
_RIGHT = "those of the weights after it"
_BY_IDENTITY = "those of the weights before it: it looks at which array it holds, not at its numbers"
_ORDER = "forward, backward, update, forward on one layer"
_BIAS = next(param for param in FORWARD.params if param.name == "bias")


def after_updates(bench: Bench, found: Findings, layer: Layer, out: int, rule: Rule) -> None:
    """Hold a layer that has updated itself against the projection of its new latent weights.

    Args:
        bench: Where it is called.
        found: What is found.
        layer: The layer.
        out: How many outputs leave it no ragged group.
        rule: How it projects fresh weights.
    """
    owner = layer.binding.name.rpartition(".")[0]
    if layer.binding.init is None or layer.binding.on or not owner:
        found.note(AFTER_UPDATE, "not tried", note="Its weights are handed over with every call.")
        hold_training(bench, found, layer.transposed)
        return
    seen = outside(bench, owner)
    named: list[Sequence[Update]] = list(updates(bench, layer.binding.file, owner))
    trial = _Trial(Updating(bench, layer, out, Comparison(rule, layer.transposed)), owner, seen)
    if not named:
        named.extend(written(layer.binding, seen.stored, trial.held()))
    if not named:
        named.extend(handed(seen, trial.held()))
    if not named:
        found.note(AFTER_UPDATE, "not tried", note=f"No update was found on {owner} by its name.")
    for ways in named[:_MOST_UPDATES]:
        trial.judge(found, ways)
    hold_optimisers(trial.updating, found, owner)
    hold_training(bench, found, layer.transposed, trial.updating)


@dataclass(frozen=True, slots=True)
class _Trial:
    updating: Updating
    owner: str
    seen: Outside

    @property
    def bench(self) -> Bench:
        """Where the layer is called."""
        return self.updating.bench

    @property
    def layer(self) -> Layer:
        """The layer."""
        return self.updating.layer

    @property
    def compared(self) -> Comparison:
        """How it projects."""
        return self.updating.compared

    def judge(self, found: Findings, ways: Sequence[Update]) -> None:
        """Try one update, in the first way that changes the latent weights."""
        reasons: list[str] = []
        for update in ways:
            try:
                state = self.updating.updated(update)
            except Untried as why:
                reasons.append(str(why))
            except Fault as fault:
                reasons.append(fault.message)
            else:
                hold_direction(self.updating, found, update)
                renews = self.compared.fits(state.latent, state.effective)
                hold_small_updates(self.updating, found, update, renews=renews)
                loops = self.seen.looped or self.seen.named or self.seen.dynamic
                hold_step(self.updating, found, update, self.owner, bias=not loops)
                self._settle(found, update, state)
                if isinstance(update, Written) and not update.in_place:
                    self._in_place(found, update, state)
                if self.compared.fits(state.latent, state.effective):
                    known = modes(self.layer, state.run)
                    evaluations = [mode for mode in known if mode.evaluates and mode.returns]
                    for mode in evaluations:
                        self._evaluated(found, update, mode)
                    hold_gradient(self.updating, found, update, evaluations)
                return
        found.note(
            AFTER_UPDATE, "not tried", note=f"{ways[0].target}: {reasons[0]}",
            file=ways[0].file, line=ways[0].line or None,
        )  # fmt: skip

    def _evaluated(self, found: Findings, update: Update, mode: Mode) -> None:
        """Evaluate a layer, train it on, and evaluate it again: by then its projection is another one."""
        try:
            run, paths = self.updating.begun("evaluated")
            weight = run.weight
            if not self.compared.fits(weight, mode.turn(self.layer, run).effective(weight, on=run)):
                # evaluation multiplies by something else, of which nothing is known
                return
            mode.turn_back(self.layer, run)
            run = self.layer.forward(weight, run.x, bias=run.bias, on=run)
            state = self.updating.again(update, run, paths, weight, "evaluated")
            now = mode.turn(self.layer, run).effective(weight, on=run)
        except (Untried, Fault):
            return
        fine = self.compared.fits(state.latent, now)
        if not fine and self.compared.gained(state.latent, now):
            return
        kept = self.compared.fits(state.before, now)
        told = "those of its first evaluation" if kept else "others than those of the weights by then"
        # what writes the weights from outside may do more in its training than it does here
        sure = mode.by_methods and not isinstance(update, Written)
        sure = sure or self._shut(update, replace(state, effective=now), mode.names)
        found.claim(
            _EVALUATED, fine, measured=_RIGHT if fine else told, limit=_RIGHT,
            otherwise=Verdict.FAIL if sure else Verdict.WARN,
            note=f"{update.target}; evaluation ({mode.told}), training, its update, evaluation on one layer",
            file=update.file, line=update.line or None,
        )  # fmt: skip

    def _in_place(self, found: Findings, update: Written, assigned: Updated) -> None:
        """Warn where the projection follows an array that is put in its place, and not one that changes.

        It is right in a training that puts one in its place, as the submission's does.
        """
        if not self.compared.fits(assigned.latent, assigned.effective):
            return
        try:
            state = self.updating.updated(replace(update, in_place=True))
        except (Untried, Fault):
            return
        if self.compared.fits(state.before, state.effective):
            found.claim(
                IN_PLACE, False, measured=_BY_IDENTITY, limit=_RIGHT, otherwise=Verdict.WARN,
                note="forward, backward, numbers written into the array of the latent weights, forward",
                file=self.layer.binding.file, line=self.layer.binding.line or None,
            )  # fmt: skip

    def held(self) -> set[str]:
        """Attributes that hold the latent weights of a new layer, by their own names."""
        try:
            _run, paths = self.updating.begun("held")
        except (Untried, Fault):
            return set()
        return {str(path[-1][1]) for path in paths if path and path[-1][0] == "a"}

    def _settle(self, found: Findings, update: Update, state: Updated) -> None:
        place: dict[str, Any] = {"file": update.file, "line": update.line or None}
        if self.compared.fits(state.latent, state.effective):
            found.claim(AFTER_UPDATE, True, measured=_RIGHT, limit=_RIGHT, note=update.target, **place)
            return
        if self.compared.gained(state.latent, state.effective):
            told = f"{update.target} changes a gain of the layer as well"
            found.note(AFTER_UPDATE, "not tried", note=told, **place)
            return
        self._blame(found, update, state, {**place, "note": f"{update.target}; {_ORDER}"})

    def _blame(self, found: Findings, update: Update, state: Updated, place: dict[str, Any]) -> None:
        """Say what is stale, and how sure it is that training meets it."""
        refresh, state, was = self._flagged(state), self._now(state), state
        whole, direct = self.compared.fits(state.before, state.effective), isinstance(update, Written)
        sure = not refresh and self._shut(update, state)
        refresh = refresh or self._refreshed(update, state)
        # what follows numbers that are written into its array projects in every forward
        views = self.layer.binding.in_place and whole and not (refresh or direct)
        sure = sure or views
        shown = was if refresh else state
        told = self.compared.stale(shown.before, shown.latent, shown.effective)
        if views:
            told += ": it reads views of the array that its update has replaced"
        elif sure:
            told += ", and nothing outside the class has it project anew"
        elif refresh:
            told += f", until {refresh}: it projects on demand"
        elif whole and not direct and self._lags(update, state):
            told, whole = "one update behind: it projects before it changes the weights", False
        elif whole:
            told += ": it projects on demand, and no call was found that has it project anew"
        if direct and not sure:
            # Its training may well do something after each assignment, or update this layer otherwise.
            found.note(AFTER_UPDATE, told, **place)
            return
        unsure = not sure and bool(whole or refresh)
        otherwise = Verdict.WARN if unsure else Verdict.FAIL
        found.claim(AFTER_UPDATE, False, measured=told, limit=_RIGHT, otherwise=otherwise, **place)

    def _flags(self, state: Updated) -> dict[str, bool | None]:
        """Attributes of the layer that the submission sets from outside its class, and to what."""
        worker, layer = state.run.returned.worker, instance(state.run)
        has = {str(key) for kind, key, _part in worker.describe(layer).get("parts", ()) if kind == "a"}
        return {
            name: write.sets[0]
            for name, write in self.seen.stored.items()
            if write is not None and write.sets and name in has
        }

    def _flagged(self, state: Updated) -> str:
        """The flags that bring its projection up to date, as a clause; they stay set."""
        flags = self._flags(state)
        for name, value in flags.items():
            with contextlib.suppress(Fault):
                state.run.returned.worker.set(instance(state.run), name, value)
        fine = bool(flags) and self.compared.fits(state.latent, self._now(state).effective)
        return f".{' and .'.join(flags)} {'are' if len(flags) > 1 else 'is'} set" if fine else ""

    def _now(self, state: Updated) -> Updated:
        """What it multiplies by now."""
        try:
            return replace(state, effective=self.layer.effective(state.before, on=state.run))
        except Fault:
            return state

    def _shut(self, update: Update, state: Updated, tried: Collection[str] = ()) -> bool:
        """Whether training updates the layer so, and does nothing besides that could have it project.

        Args:
            update: How.
            state: What it led to.
            tried: Methods of the layer that were called on the way, and what its forward was told besides.
        """
        name = update.name.rpartition(".")[2]
        if not isinstance(update, Written) and update.on and name not in self.seen.loaded:
            return False
        now = replace(state.run, weight=state.latent)
        known = {name, *tried, *self._flags(state)}
        known.update(str(key) for path in Held(self.layer).paths(now) for _kind, key in path)
        for role in ("forward", "backward"):
            if role in self.bench.bindings:
                binding = self.bench.binding(role)
                known.add(binding.name.rpartition(".")[2])
                known.update(str(source.steps[-1][1]) for source in binding.returns.values() if source.steps)
        worker, layer = state.run.returned.worker, instance(state.run)
        has = {str(key) for leaf in worker.leaves(layer) for _kind, key in leaf.get("path", ())}
        has.update(str(key) for _kind, key, _part in worker.describe(layer).get("parts", ()))
        known.update(key for key in has if _BIAS.means(key))
        known.update(self._idle(state, self.seen.loaded - known))
        return shut(self.bench, self.owner, self.seen, frozenset(known), frozenset(has), tried)

    def _idle(self, state: Updated, names: Collection[str]) -> set[str]:
        """Methods of the layer by these names that leave it as stale, and its weights as they are."""
        idle: set[str] = set()
        for item in callables(self.bench.bindings.loaded):
            owner, _, method = item.name.rpartition(".")
            if owner != self.owner or method not in names or any("default" not in p for p in item.params):
                continue
            budget = min(_SECONDS, self.bench.left)
            with contextlib.suppress(Fault):
                state.run.returned.worker.call(instance(state.run), method=method, budget=budget)
                same = Held(self.layer).paths(replace(state.run, weight=state.latent))
                if same and not self.compared.fits(state.latent, self._now(state).effective):
                    idle.add(method)
        return idle

    def _refreshed(self, update: Update, state: Updated) -> str:
        """The method of the layer that brings its projection up to date, as a clause; empty for none."""
        for method in refreshing(self.bench, self.layer.binding.file, self.owner):
            if method == update.name.rpartition(".")[2]:
                continue
            try:
                budget = min(_SECONDS, self.bench.left)
                state.run.returned.worker.call(instance(state.run), method=method, budget=budget)
                effective = self.layer.effective(state.before, on=state.run)
            except Fault:
                continue
            if self.compared.fits(state.latent, effective):
                return f"{method}() is called"
        return ""

    def _lags(self, update: Update, state: Updated) -> bool:
        """Whether a second update brings the projection of the weights between the two."""
        try:
            paths = Held(self.layer).paths(replace(state.run, weight=state.latent))
            run = self.layer.forward(state.latent, self.updating.x(), on=state.run)
            run = replace(run, weight=state.latent)
            again = self.updating.again(update, run, paths, state.latent, "second")
        except (Untried, Fault):
            return False
        return self.compared.fits(state.latent, again.effective)
