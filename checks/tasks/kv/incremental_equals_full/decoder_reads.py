"""Which places of a decoder's cache a step reads, seen where other numbers are put there before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.projections import Shape
from judge_tui.checks.tasks.kv.faces.slots import Slot, arrays, slots
from judge_tui.checks.tasks.kv.faces.storage import words
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.misplaced import span
from judge_tui.checks.tolerance import relative_error, same_bits

__all__ = ["Reads"]

Array = npt.NDArray[Any]
#: Places past its own that a step is asked about.
_PAST = 2
#: Keys and values of one layer, and arrays that are told at most.
_PAIR, _MOST = 2, 3
_RIGHT = (
    "the step stores what a prompt does, and reads all of its past and no more: its query, or the scale "
    "of its scores, is another"
)


@dataclass(frozen=True, slots=True)
class Reads:
    """A wrong step of one sequence that stores what it should.

    Attributes:
        subject: What is judged.
        make: Makes its decoder.
        fed: Makes one that was fed what stands before the step.
        given: (1, N) ids or (1, N, E), the step's last.
        shape: Of what it keeps.
    """

    subject: Subject
    make: Maker
    fed: Callable[[], Decoder]
    given: Array
    shape: Shape

    @property
    def at(self) -> int:
        """Where the token of the step stands."""
        return int(self.given.shape[1]) - 1

    def told(self, limit: float) -> str:
        """Which places of the cache reach the answer of the step, where these are not those of its past."""
        truth = self.fed().decode(self.given[:, self.at])
        places, room = self._places()
        if len(places) < self.at:
            return ""
        past, kept = places[: self.at], self._kept()
        unread = [i for i in range(len(kept)) if same_bits(self._with_noise(past, i), truth)]
        if 0 < len(unread) < len(kept):
            names = ", ".join(words(kept[i].handle.path) for i in unread[:_MOST])
            return f"the step does not read {names}, where it reads the others that it keeps"
        seen = [p for p in range(len(places)) if not same_bits(self._with_noise([places[p]]), truth)]
        unseen = [p for p in range(self.at) if p not in seen]
        beyond = [p for p in seen if p > self.at]
        told = []
        if unseen:
            told.append(f"the step does not read what is stored of {span('token', unseen, self.at)}")
        if self.at in seen:
            told.append("the step reads the place of its own token before that is written")
        if beyond:
            told.append(f"the step reads {span('place', beyond, room)} past its own token {self.at}")
        if not told and self._own_is_unseen(limit):
            told.append("the step does not attend to its own token")
        return " and ".join(told) or (_RIGHT if len(kept) == _PAIR else "")

    def _kept(self) -> list[Slot]:
        """What holds keys or values before the step."""
        return slots(arrays(self.make(1)), arrays(self.fed()), self.shape, self.at)

    def _places(self) -> tuple[list[int], int]:
        """Where the array of keys holds each token, the step's own and those behind it too; and its room."""
        empty, taken = arrays(self.make(1)), list[int]()
        room = 0
        for tokens in range(3, self.at + 2):
            decoder = self.make(1)
            decoder.prefill(self.given[:, :tokens])
            kept = slots(empty, arrays(decoder), self.shape, tokens)
            rows = {tuple(np.flatnonzero(slot.seen.any(axis=(0, 2))).tolist()) for slot in kept}
            if len(rows) != 1 or len(new := set(next(iter(rows))) - set(taken)) != tokens - len(taken):
                return [], 0
            # the first three are taken to stand in order
            taken += sorted(new)
            room = min(slot.seen.shape[1] for slot in kept)
        behind = [p for p in range(taken[-1] + 1, min(room, taken[-1] + 1 + _PAST)) if p not in taken]
        kept = self._kept()
        within = min((slot.seen.shape[1] for slot in kept), default=0)
        # what grows has no place yet for what comes
        return [p for p in [*taken, *behind] if p < within] if kept else [], within

    def _with_noise(self, places: list[int], only: int | None = None) -> Array:
        """What the step answers where other numbers stand in places of the cache, or of one of its arrays."""
        decoder = self.fed()
        rng = self.subject.bench.rng("noise", *places)
        for i, slot in enumerate(slots(arrays(self.make(1)), arrays(decoder), self.shape, self.at)):
            if only in (None, i):
                size = float(np.abs(slot.seen).max()) or 1.0
                slot.seen[:, places] += size * rng.standard_normal(slot.seen[:, places].shape)
                decoder.worker.fill(slot.handle, slot.whole.astype(slot.dtype))
        return decoder.decode(self.given[:, self.at])

    def _own_is_unseen(self, limit: float) -> bool:
        """Whether keys of the past do not matter once all values of the past are one: it has all weight."""
        if len(self._kept()) != _PAIR:
            return False
        for values in (1, 0):
            plain, other = (self._one_value(values, noise) for noise in (False, True))
            if relative_error(other, plain) <= limit:
                return True
        return False

    def _one_value(self, values: int, noise: bool) -> Array:
        decoder = self.fed()
        kept = slots(arrays(self.make(1)), arrays(decoder), self.shape, self.at)
        rng = self.subject.bench.rng("one value")
        past = slice(0, self.at)
        kept[values].seen[:, past] = kept[values].seen[:, :1]
        if noise:
            keys = kept[1 - values].seen[:, past]
            keys += float(np.abs(keys).max()) * rng.standard_normal(keys.shape)
        for slot in kept:
            decoder.worker.fill(slot.handle, slot.whole.astype(slot.dtype))
        return decoder.decode(self.given[:, self.at])
