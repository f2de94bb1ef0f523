"""What is asked of an emulated launch, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["UNWRITTEN_INDEX", "UNWRITTEN_PROBABILITY", "Answer", "Case", "Event", "Severity", "Status"]

Severity = Literal["fault", "hazard", "note"]
Status = Literal["done", "refused", "failed", "crashed", "timed_out", "not_run"]

#: What indices hold that were never written, by dtype; every byte is 0x7f.
UNWRITTEN_INDEX = {"int32": 0x7F7F7F7F, "int64": 0x7F7F7F7F7F7F7F7F}
#: Bits of what probabilities hold that were never written: a NaN, and none that lies in kernels' memory.
UNWRITTEN_PROBABILITY = 0x7FC1F1ED


@dataclass(frozen=True, slots=True)
class Case:
    """One call of ``judge_launch``.

    Attributes:
        logits: Input, (rows, V), float32.
        k: Handed on as it is.
        stride: Elements per row of either output.
        index_dtype: Of the indices.
        schedule: 0 runs the lanes of a warp in lockstep, as a card nearly always does; another number
            shuffles threads by that seed, which shows what only lockstep had kept right.
        planned: Where it is not 0, the launcher is told of so many rows like those of ``logits``, and what it
            launches is looked at, but not run: there is no answer. The emulator alone does so.
    """

    logits: npt.NDArray[np.float32]
    k: int
    stride: int
    index_dtype: Literal["int32", "int64"] = "int32"
    schedule: int = 0
    planned: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the emulator saw; it comes from the untrusted side and colours evidence.

    Attributes:
        kind: ``race``, ``out_of_bounds``, …; docs/emulator.md lists them.
        severity: ``fault`` is wrong by CUDA's rules, ``hazard`` rests on luck, ``note`` is neither.
        text: What happened, as a clause.
        file: File of the submission; empty where none is known.
        line: 1-based; 0 where none is known.
        block: Linear index of the block where it was first seen.
        thread: Linear index of the thread within the block.
        count: How often it happened at this place.
        other_file: The other place that took part, such as the earlier access of a race.
        other_line: Its line.
    """

    kind: str
    severity: Severity
    text: str
    file: str = ""
    line: int = 0
    block: int = 0
    thread: int = 0
    count: int = 1
    other_file: str = ""
    other_line: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a case gave.

    Attributes:
        status: ``done``; ``refused`` (``judge_launch`` returned ``code``, or left a launch error unread);
            ``failed`` (the device is in an error state); ``crashed`` (host code ended); ``timed_out``;
            ``not_run`` (the time was up before).
        code: What ``judge_launch`` returned.
        device_error: The sticky error that a card would be in; 0 for none.
        indices: (rows, stride); what was not written holds :data:`UNWRITTEN_INDEX`. ``None`` without answer.
        probabilities: (rows, stride), float32; what was not written holds :data:`UNWRITTEN_PROBABILITY`.
        events: What the emulator saw.
        peak_bytes: Device memory that the launch allocated at most, beyond inputs and outputs.
        input_bytes: Bytes of the logits that kernels read, each time counted.
        seconds: Wall time of the case.
        cpu_seconds: Processor time of the case: much less than ``seconds`` where the machine was busy.
        ended: How the process ended, as a clause, where it did not end as it should.
        output: What was printed in this run of the process, bounded.
    """

    status: Status
    code: int = 0
    device_error: int = 0
    indices: npt.NDArray[Any] | None = None
    probabilities: npt.NDArray[np.float32] | None = None
    events: tuple[Event, ...] = ()
    peak_bytes: int = 0
    seconds: float = 0.0
    ended: str = ""
    output: str = ""
    input_bytes: int = 0
    cpu_seconds: float = 0.0
