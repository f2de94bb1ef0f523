"""What a task's throughput is measured on: a call at stated sizes, and the same work by plain code.

A task that wants its submissions timed gives its contract a :class:`Timing`::

    CONTRACT = Contract(roles, sample, text, timing=TIMING)

``plain`` is a file of NumPy code with a function ``call`` and, where something must be made before the clock
starts, ``prepare``. It runs in a process that is confined as the submission's own is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Size", "Timing"]


@dataclass(frozen=True, slots=True)
class Size:
    """One size of the call.

    Attributes:
        label: Shapes and dtype, in words.
        work: How much there is to do, in any unit: tells from one size whether the next is affordable.
        inputs: Makes the inputs: canonical parameter → value.
        shape: Shape of the answer that is held against the reference's.
    """

    label: str
    work: float
    inputs: Callable[[np.random.Generator], Mapping[str, Any]]
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """What is timed.

    Attributes:
        role: The role that is called.
        plain: File of the reference.
        takes: Canonical parameters that ``call`` takes, in order.
        sizes: Smallest first; the largest that a submission affords is reported.
        answer: Canonical name of an array that is compared with what ``call`` gives; empty for none.
        before: Roles that are called once before, for the handles that they give.
        prepared: Canonical parameters of ``prepare``, whose result ``call`` takes last; empty for none.
        unlike: Canonical parameters of calls that do something else than what is timed, which are not timed.
        told: Canonical parameters by which a call is asked for the work that is timed; what takes none of
            them, and gives another answer, does other work.
        call: Name of the reference's function.
        packages: Installed packages that it needs beside NumPy.
        by_value: Whether an answer without a name is fetched by value, as a challenge's are.
    """

    role: str
    plain: Path
    takes: tuple[str, ...]
    sizes: tuple[Size, ...]
    answer: str = ""
    before: tuple[str, ...] = ()
    prepared: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    call: str = "call"
    packages: tuple[str, ...] = ()
    by_value: bool = False
