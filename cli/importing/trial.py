"""Whether what was imported runs, tried where it may run: in its author's jail."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_tui.checks.calling.remote import Random
from judge_tui.checks.challenges.author import Author
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Skipped

__all__ = ["Trial", "tried"]

_SEED = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a trial.

    Attributes:
        fitting: The sizes with which inputs are drawn and the reference answers.
        trouble: Why it did not with the first of the others, a clause; empty where all fit.
        untried: Why nothing could be tried, a clause: a package is missing here.
    """

    fitting: tuple[Mapping[str, Any], ...] = ()
    trouble: str = ""
    untried: str = ""


def tried(files: Mapping[str, bytes], sizes: Iterable[Mapping[str, Any]]) -> Trial:
    """Draw inputs and ask for the reference's answer, once for each of some sizes.

    Args:
        files: Of the challenge.
        sizes: What its ``inputs`` takes.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, data in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(data)
        return _tried(Challenge("imported", name), sizes)


def _tried(challenge: Challenge, sizes: Iterable[Mapping[str, Any]]) -> Trial:
    folder = challenge.folder.held
    author = Author(challenge, folder)
    fitting: list[Mapping[str, Any]] = []
    trouble = ""
    try:
        for each in sizes:
            if not author.alive:
                author = Author(challenge, folder)
            try:
                author.call("reference", (), author.call("inputs", [Random(_SEED)], each))
                fitting.append(each)
            except ChallengeFault as fault:
                trouble = trouble or str(fault).partition("\n")[0]
    except Skipped as fault:
        return Trial(untried=fault.message)
    finally:
        author.close()
    return Trial(tuple(fitting), trouble)
