"""What a layer multiplies by, held against the projections of its latent weights before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training import levels
from judge_tui.checks.tasks.ternary_training.astray import astray
from judge_tui.checks.tasks.ternary_training.draws import Draw
from judge_tui.checks.tasks.ternary_training.explained import which
from judge_tui.checks.tasks.ternary_training.grouping import mean_scale
from judge_tui.checks.tasks.ternary_training.levels import LIMIT, Answer, Rule
from judge_tui.checks.tasks.ternary_training.scale_values import scale_of_groups

__all__ = ["Comparison"]

Array = npt.NDArray[np.float64]

#: Share of levels that must differ, and how far scales must be apart, so that one is not taken for the other.
_LEVELS_APART, _SCALES_APART = 0.02, 1e-3
#: Spread of a factor that is one number per row or column.
_ONE_FACTOR = 1e-6


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a layer projects, for comparing; weights are (out, in).

    Attributes:
        rule: As its fresh answers show it.
        transposed: Whether the layer holds (in, out).
    """

    rule: Rule
    transposed: bool

    def apart(self, before: Array, latent: Array) -> bool:
        """Whether the projections of the two differ enough, in levels and in scales."""
        old, new = self._projected(before), self._projected(latent)
        with np.errstate(all="ignore"):
            moved = np.abs(self._scale(latent) / self._scale(before) - 1.0)
        levels_moved = float(np.mean(np.sign(old) != np.sign(new)))
        return levels_moved >= _LEVELS_APART and float(np.median(moved)) > _SCALES_APART

    def apart_at_all(self, before: Array, latent: Array) -> bool:
        """Whether one projection is not taken for the other: some levels or scales differ."""
        return not self.fits(latent, self._projected(before))

    def fits(self, latent: Array, effective: Array) -> bool:
        """Whether it multiplies by the projection of these latent weights."""
        return self._off(latent, effective) <= LIMIT and self._misplaced(latent, effective) == 0

    def stale(self, before: Array, latent: Array, effective: Array) -> str:
        """Which part of the projection is of the weights before, as a clause."""
        if self.fits(before, effective):
            return "those of the weights before it"
        if not np.isfinite(effective).all():
            return "not finite"
        old_scale, new_scale = (self._off(weight, effective) <= LIMIT for weight in (before, latent))
        if old_scale:
            return "levels of the new weights, but s = mean|W| is that of the weights before it"
        if new_scale:
            count = self._misplaced(latent, effective)
            if np.mean(np.sign(effective) == np.sign(self._projected(before))) > 0.999:
                return "s is that of the new weights, but the levels are those of the weights before it"
            return f"s is that of the new weights, but {count} of {latent.size} levels are not their nearest"
        projections = (self._projected(weight) for weight in (before, latent))
        old, new = (np.abs(effective - one) <= LIMIT * np.maximum(1.0, np.abs(one)) for one in projections)
        if (old | new).all():
            parts = astray([(latent, effective)], self.rule.grouping, self.transposed)
            named, told, _what = parts.partition(" alone are wrong")
            if told:
                return f"{named} are those of the weights before it, the others are new"
            return f"{np.mean(~new):.0%} of them are those of the weights before it"
        if told := self._mixed(before, latent, effective):
            return told
        off = self._off(latent, effective)
        seen = [(latent, effective)]
        why = scale_of_groups(seen, self.rule.grouping, self.transposed)
        if why := why or which(seen, self.rule.grouping, self.transposed):
            return f"{off:.2g} off those of the weights after it: {why}"
        return f"neither those of the weights before it nor those of the new ones: {off:.2g} off"

    def _mixed(self, before: Array, latent: Array, effective: Array) -> str:
        """How much of the scale is that of the weights before, where it is a mean of both; else nothing."""
        shown = effective != 0
        old, new = (self._scale(weight)[shown] for weight in (before, latent))
        parts = np.stack([old, new], axis=1)
        shares = np.linalg.lstsq(parts, np.abs(effective)[shown], rcond=None)[0]
        off = np.abs(parts @ shares - np.abs(effective)[shown]) > LIMIT * np.maximum(1.0, new)
        if off.any() or min(shares) < _SCALES_APART:
            return ""
        return (
            f"s is {shares[0]:.3g} times that of the weights before it and {shares[1]:.3g} times the new one"
        )

    def gained(self, latent: Array, effective: Array) -> bool:
        """Whether it is the right projection times a factor per output or per input, which may be learned."""
        right = self._projected(latent)
        live = right != 0
        if not np.isfinite(effective).all() or ((effective != 0) != live).any():
            return False
        ratio = np.where(live, effective / np.where(live, right, 1.0), np.nan)
        return any(bool(np.nanmax(np.nanstd(ratio, axis=axis)) < _ONE_FACTOR) for axis in (0, 1))

    def _projected(self, weight: Array) -> Array:
        return self.rule.projected(weight, self.transposed)

    def _scale(self, weight: Array) -> Array:
        return mean_scale(weight, self.rule.grouping, self.transposed).values

    def _off(self, weight: Array, effective: Array) -> float:
        scale = mean_scale(weight, self.rule.grouping, self.transposed)
        return levels.distance(Answer(Draw("", weight), effective), scale)

    def _misplaced(self, weight: Array, effective: Array) -> int:
        return self.rule.misplaced(weight, effective, self.transposed)
