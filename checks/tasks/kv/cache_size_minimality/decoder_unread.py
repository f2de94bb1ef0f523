"""What a decoder keeps of its tokens and never reads: one layer's keys, where all read another's.

A decoder whose layers all read the keys of one is the same with its cache and without it, so that no
comparison with itself shows what is wrong. But what the other layers keep can be overwritten, and no
answer changes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.sources import source_text
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.slots import arrays, changed
from judge_tui.checks.tasks.kv.faces.storage import line_of, words
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import same_bits
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: One sequence, and a number of layers that no other axis has; two of a pair of keys and values.
_LAYERS, _PAIR = 3, 2
_SIZES: dict[str, Any] = {"layers": _LAYERS, "embed": 128, "heads": 4}
#: Tokens of a prompt, and steps after it, before something is overwritten; and once more, with one token,
#: which every window holds.
_FED, _FEWEST = (2, 2), (1, 0)
_STEPS = 2
_MOST = 24
#: Of what the like of an entry holds: less is no cache of all tokens.
_SHARE = 0.6
_NUMBER = re.compile(r"\d+")
_SHARES = re.compile(r"layers?\W.{0,12}\bshar|shar\w*.{0,12}layer|cross.?layer|yoco|kv_?shar", re.I)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """An array of a decoder, or a slice of it, as far as tokens wrote to it.

    Attributes:
        root: Which of the decoder's roots leads to it.
        path: How.
        at: Its index in the array; all of it, where that is empty.
        shape: Of the whole array.
        written: What tokens wrote, flat.
        poisoned: A copy of the whole array with NaN in those places.
    """

    root: int
    path: tuple[tuple[str, Any], ...]
    at: tuple[int | slice, ...]
    shape: tuple[int, ...]
    written: Array
    poisoned: Array

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is known by in another decoder."""
        return self.root, self.path, tuple(str(each) for each in self.at)

    @property
    def attribute(self) -> str:
        """The innermost name on its path; empty where there is none."""
        named = (str(key) for kind, key in reversed(self.path) if kind == "a" or isinstance(key, str))
        return next(named, "")

    @property
    def name(self) -> str:
        """Its path in words."""
        told = ["…" if isinstance(each, slice) else str(each) for each in self.at]
        while told and told[-1] == "…":
            told.pop()
        return words(self.path) + (f"[{', '.join(told)}]" if told else "")

    def is_like(self, other: _Part) -> bool:
        """Whether another is kept in the same way, for another layer: the numbers on its way are others."""
        same = self.root == other.root and self.shape == other.shape
        return same and _NUMBER.sub("#", self.name) == _NUMBER.sub("#", other.name)

    def repeats(self, other: _Part) -> bool:
        """Whether another holds what it holds: it is a copy, or an earlier state of the other."""
        return bool(np.isin(self.written, other.written).all())


def judge(subject: Subject, found: Findings) -> list[str]:
    """Overwrite what a decoder keeps, part by part: the next steps must be others.

    Returns:
        What is never read, in a sentence; empty where all is, or where nothing can be seen.
    """
    try:
        make = subject.maker(**_SIZES)
        unread, parts = _unread(subject, make, *_FED)
        read = [part for part in parts if part not in unread]
        if unread:
            again = {part.key for part in _unread(subject, make, *_FEWEST)[0]}
            unread = [part for part in unread if part.key in again]
    except (Raised, BadResult, Skipped) as fault:
        found.note("what the decoder keeps and never reads", "not judged", note=fault.message)
        return []
    if not read:
        return []
    stale = [(part, like) for part in unread if (like := _like(part, read))]
    for part in unread:
        if part not in [each for each, _like in stale]:
            found.note(f"decoder: {part.name} {part.shape}", "not read by the next steps",
                       note="nothing that is read is kept as it is")  # fmt: skip
    return list(filter(None, [_told(subject, found, stale, len(parts))]))


def _like(part: _Part, read: list[_Part]) -> _Part | None:
    """What is kept as a part is, and read; none where the part is a copy of something that is read."""
    if any(part.repeats(other) for other in read):
        return None
    alike = (other for other in read if part.is_like(other))
    return next((other for other in alike if part.written.size >= _SHARE * other.written.size), None)


def _told(subject: Subject, found: Findings, stale: list[tuple[_Part, _Part]], judged: int) -> str:
    """Say which parts are never read; those of a model that shares its layers on purpose warn."""
    quantity = "decoder: parts of its cache that are never read, beside others like them that are"
    if not stale:
        found.claim(quantity, True, measured=0, limit=0, unit="parts", note=f"of {judged}")
        return ""
    shares = _says_it_shares(subject)
    for part, like in stale:
        where = subject.where("prefill", "decode")
        line = line_of(subject.bench, where["file"], part.attribute) if where else None
        found.claim(
            f"decoder: {part.name} {part.shape} is read by a step", False, measured="never read",
            limit="read", note=f"{like.name} is" + (f"; {shares}" if shares else ""),
            otherwise=Verdict.WARN if shares else Verdict.FAIL, **where | ({"line": line} if line else {}),
        )  # fmt: skip
    first, like = stale[0]
    others = len(stale) - 1
    more = f", nor {others} other{'s' * (others > 1)} like it" if others else ""
    return f"decoder: {first.name} {first.shape} is never read{more}, where {like.name} is"


def _says_it_shares(subject: Subject) -> str:
    """What its source says of layers that share keys and values; empty where it says nothing."""
    binding = subject.main("prefill", "decode")
    if binding.file == ADAPTER:
        return ""
    said = _SHARES.search(source_text(subject.bench.submission.read_bytes(binding.file)))
    return f"“{said.group()}” stands in its source" if said else ""


def _unread(subject: Subject, make: Maker, prompt: int, steps: int) -> tuple[list[_Part], list[_Part]]:
    """Parts that no step after these reads, and all that were overwritten."""
    given = make(1).draw(subject.bench.rng("unread", prompt, steps), prompt + steps + _STEPS)

    def fed() -> Decoder:
        decoder = make(1)
        decoder.prefill(given[:, :prompt])
        for t in range(prompt, prompt + steps):
            decoder.decode(given[:, t])
        return decoder

    def answers(decoder: Decoder) -> list[Array]:
        return [decoder.decode(given[:, t]) for t in range(prompt + steps, given.shape[1])]

    def is_unread(part: _Part) -> bool:
        decoder = fed()
        with Guess(decoder.worker):
            decoder.worker.fill(decoder.roots[part.root].part(*part.path), part.poisoned)
            return all(same_bits(*pair) for pair in zip(answers(decoder), truth, strict=True))
        return False

    truth, tried, unread = answers(fed()), list[_Part](), list[_Part]()
    for whole, *slices in _written(make(1), fed()):
        if is_unread(whole):
            tried.append(whole)
            unread.append(whole)
            continue
        tried += slices or [whole]
        unread += [part for part in slices if part.written.size and is_unread(part)]
    return unread, tried


def _written(new: Decoder, fed: Decoder) -> Iterator[list[_Part]]:
    """What tokens wrote to: every array, and then its slices, where it holds several layers."""
    before, after = arrays(new), arrays(fed)
    written = sorted(changed(before, after).items(), key=lambda item: -item[1][1].size)
    for (root, path), (_handle, values, dtype) in written[:_MOST]:
        mask = values != 0
        if (root, path) in before and before[(root, path)][1].shape == values.shape:
            mask = values != before[(root, path)][1]
        yield [_part(root, path, at, values.astype(dtype), mask) for at in ((), *_slices(values.shape))]


def _slices(shape: tuple[int, ...]) -> Iterator[tuple[int | slice, ...]]:
    """Indices of what an array holds of each layer, keys and values apart; none where it holds one layer."""
    if _LAYERS not in shape:
        return
    each = [range(n) if n in (_LAYERS, _PAIR) else [slice(None)] for n in shape]
    yield from itertools.product(*each)


def _part(
    root: int, path: tuple[tuple[str, Any], ...], at: tuple[int | slice, ...], values: Array, mask: Array
) -> _Part:
    inside = np.zeros_like(mask)
    inside[at] = mask[at]
    poisoned = values.copy()
    poisoned[inside] = np.nan
    return _Part(root, path, at, values.shape, values[inside].ravel(), poisoned)
