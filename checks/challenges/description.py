"""What a challenge offers, asked of its author's code once and kept under the challenge's digest.

Planning needs the ids of all checks before anything is judged; the second time nothing of the author's has
to be run for that.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.behaviour import Behaviour, collected
from judge_tui.checks.challenges.challenge import NUMBERS, TESTS, Challenge, overlooked
from judge_tui.checks.challenges.numbers.offered import Numbers, offered
from judge_tui.checks.errors import ChallengeFault, JudgeError
from judge_tui.checks.faults import Skipped
from judge_tui.checks.store import cache_folder, engine_stamp
from judge_tui.checks.typed import from_json

__all__ = ["Description", "Trouble", "described"]


class Trouble(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a part of a challenge cannot judge.

    Attributes:
        message: One sentence.
        file: File of the challenge, relative to its folder.
        line: 1-based line in it.
        output: A traceback.
        skip: Whether that is nobody's fault: a package is missing here.
    """

    message: str
    file: str | None = None
    line: int | None = None
    output: str = ""
    skip: bool = False

    def error(self) -> ChallengeFault | Skipped:
        """The same as what a check raises."""
        if self.skip:
            return Skipped(self.message)
        return ChallengeFault(self.message, file=self.file, line=self.line, output=self.output)

    @classmethod
    def of(cls, error: JudgeError | Skipped) -> Trouble:
        """What an error says."""
        if isinstance(error, Skipped):
            return cls(error.message, skip=True)
        return cls(error.message, error.file, error.line, getattr(error, "output", ""))


class Description(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a challenge offers.

    Attributes:
        numbers: Of its ``challenge.py``; ``None`` where it has none, or it is in trouble.
        trouble: Of its ``challenge.py``.
        behaviour: Of its ``tests/``; ``None`` where it has none.
        unread: Why they could not be collected.
    """

    numbers: Numbers | None = None
    trouble: Trouble | None = None
    behaviour: Behaviour | None = None
    unread: Trouble | None = None


def described(challenge: Challenge, authors: Authors) -> Description:
    """What a challenge offers.

    Args:
        challenge: The challenge.
        authors: Its author's processes.
    """
    place = cache_folder() / "challenges" / f"{_key(challenge, authors)}.json"
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return from_json(place.read_bytes(), Description)
    made = _asked(challenge, authors)
    with contextlib.suppress(OSError):
        _written(place, msgspec.json.encode(made))
    return made


def _asked(challenge: Challenge, authors: Authors) -> Description:
    parts: dict[str, Any] = {}
    if NUMBERS in challenge.kinds:
        try:
            parts["numbers"] = offered(authors.here())
        except (ChallengeFault, Skipped) as error:
            parts["trouble"] = Trouble.of(error)
    if TESTS in challenge.kinds:
        try:
            parts["behaviour"] = collected(authors, challenge)
        except (ChallengeFault, Skipped) as error:
            parts["unread"] = Trouble.of(error)
    elif told := overlooked(challenge.folder.files):
        parts["unread"] = Trouble(told)
    return Description(**parts)


def _key(challenge: Challenge, authors: Authors) -> str:
    settings = msgspec.json.encode(challenge.settings)
    parts = (authors.folder.digest.encode(), settings, engine_stamp().encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:40]


def _written(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=place.parent, prefix=".challenge-")
    with os.fdopen(fd, "wb") as file:
        file.write(content)
    Path(name).replace(place)
