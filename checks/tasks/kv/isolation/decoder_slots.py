"""Whether what lies in the empty slots of a decoder's cache can reach its answers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.slots import arrays, changed
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import same_bits
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

Array = npt.NDArray[np.float64]
_LENGTHS, _STEPS = (5, 2, 7), 2
#: Larger than any finite mask, and larger than any data; of both signs, see ``empty_slots``.
_HUGE, _LARGE = 1e30, 1e4
#: Of the largest array that a prompt changes; smaller ones hold no keys and values.
_SHARE = 0.25


def judge(subject: Subject, found: Findings) -> str:
    """Prompts and steps over a cache that was empty, and over one that was full of huge numbers.

    Returns:
        What was found, as a clause; empty where there are no slots before tokens come.
    """
    make = subject.maker()
    try:
        together = make.any_batch and make(len(_LENGTHS)).ragged
        batch = len(_LENGTHS) if make.any_batch else 1
        lengths = np.array(_LENGTHS) if together else None
        given = make(batch).draw(subject.bench.rng("decoder"), max(_LENGTHS) + _STEPS)

        def run(prepared: Callable[[Decoder], None] = lambda _decoder: None) -> list[Array]:
            decoder = make(batch)
            prepared(decoder)
            longest = max(_LENGTHS)
            outs = [decoder.prefill(given[:, :longest], lengths)]
            return [*outs, *(decoder.decode(given[:, t]) for t in range(longest, longest + _STEPS))]

        clean, paths = run(), _changed(make(batch), given[:, : max(_LENGTHS)], lengths)
        if not paths:
            return ""

        def unmoved(dirt: float) -> bool:
            return all(_same(clean, run(partial(_fill, paths=paths, value=one))) for one in (dirt, -dirt))

        same = unmoved(_HUGE)
        large = same or unmoved(_LARGE)
    except (Raised, BadResult, Skipped) as fault:
        found.note("decoder: slots that hold nothing", "not judged", note=fault.message)
        return ""
    found.claim(
        f"decoder: ±{_HUGE:g} in each slot of its cache before: answers of a prompt and {_STEPS} steps", same,
        measured="same bits" if same else "differ", limit="same bits",
        otherwise=Verdict.WARN if large else Verdict.FAIL,
        note="" if same else f"with {_LARGE:g} {'nothing changes' if large else 'as well'}",
        **subject.where("decode"),
    )  # fmt: skip
    if same:
        return f"±{_HUGE:g} in every slot of the decoder's cache changes no bit"
    tail = " (1e4 does not)" if large else ""
    return f"±{_HUGE:g} in slots of the decoder's cache that hold nothing reaches its answers{tail}"


def _changed(decoder: Decoder, prompt: Array, lengths: Array | None) -> set[object]:
    """Where the arrays are that were there before a prompt, and that it wrote to."""
    before = arrays(decoder)
    decoder.prefill(prompt, lengths)
    wrote = {
        path: held
        for path, held in changed(before, arrays(decoder)).items()
        if path in before and before[path][1].shape == held[1].shape
    }
    largest = max((values.size for _handle, values, _dtype in wrote.values()), default=0)
    return {path for path, (_handle, values, _dtype) in wrote.items() if values.size >= _SHARE * largest}


def _fill(decoder: Decoder, paths: Collection[object], value: float) -> None:
    for path, (handle, _values, dtype) in arrays(decoder).items():
        if path in paths and dtype != "float16":
            decoder.worker.fill(handle, value)


def _same(one: list[Array], other: list[Array]) -> bool:
    return all(same_bits(a, b) for a, b in zip(one, other, strict=True))
