"""The test's end of a border: a challenge's tests, run by pytest, with a stand-in for the submission."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

from ..capture import sendable
from .assertions import Assertions
from .channel import EndedError
from .faces import Finder, found_again
from .gathering import Gathered, prepared
from .messages import Control, Done, Message
from .outline import alone
from .peer import Peer
from .reported import Reported
from .rules import TestRules, UnfitError
from .serving import seed
from .stacks import stacks
from .standins import Bound

__all__ = ["Trials"]

#: Asks that say what there is, and change nothing.
_LOOKS = frozenset({"module", "get", "class", "find", "dir", "where", "signature"})
_CALLS = frozenset({"call", "method", "special"})


class Trials:
    """One process of a challenge's author, for one submission.

    Args:
        root: The challenge's folder.
        beside: The socket beside the main one.
        library: What imports files of a submission; here nothing does.

    Raises:
        ImportError: pytest is not installed.
    """

    def __init__(self, root: Path, beside: socket.socket, library: Any) -> None:
        self._root, self._beside = root, beside
        self._asks = 0
        self._touched = False
        self._last: tuple[Any, str] | None = None
        self._gathered: Gathered | None = None
        self._assertions = Assertions(root)
        self._reported = Reported(root, lambda: self._asks)
        alone(library)
        prepared(root, self._assertions)

    def serve(self, main: socket.socket) -> None:
        """Serve until the engine is gone.

        Args:
            main: The main socket.
        """
        self._rules = TestRules(found_again)
        self._peer = Peer(self._rules, main, self._beside, 2, lambda control: Done(stacks(self._root)))
        self._peer.heard, self._peer.word = self._heard, self._assertions.word
        sys.meta_path.insert(0, Finder(self._peer))
        while True:
            try:
                message = self._peer.channel.receive()
                if isinstance(message, Control):
                    self._peer.channel.send(self._answered(message))
            except (EOFError, OSError):
                return
            except EndedError:
                continue

    def _answered(self, control: Control) -> Message:
        match control.name:
            case "begin":
                self._peer.begin()
                seed(int(control.body["seed"]))
                return Done({})
            case "gather":
                return Done(self._gather(str(control.body["file"])))
            case "run":
                return Done(self._run(int(control.body["index"]), last=bool(control.body["last"])))
        return Done({})

    def _gather(self, file: str) -> dict[str, Any]:
        """Collect the tests of a file; ``touched`` says whether that did more than import."""
        if self._gathered is not None:
            self._gathered.close()
            self._gathered = None
        for name in [name for name in sys.modules if name.partition(".")[0] == "submission"]:
            del sys.modules[name]
        self._begin_test()
        self._touched = False
        try:
            self._gathered = Gathered(self._root, file, self._reported)
        except (Exception, UnfitError, SystemExit) as error:
            told = self._reported.of_error(getattr(error, "__cause__", None) or error)
            return {"tests": [], "touched": False, "unfit": self._rules.unfit_said, **told}
        found = self._reported.of_collection()
        tests = [
            {"name": each["name"], "group": each["group"], "row": each["row"]}
            for each in self._gathered.told()
        ]
        return {"tests": tests, "touched": self._touched, "unfit": self._rules.unfit_said, **found}

    def _run(self, index: int, *, last: bool) -> dict[str, Any]:
        assert self._gathered is not None
        self._begin_test()
        self._seed_hypothesis()
        self._gathered.run(index, last=last)
        told = self._reported.of_test()
        told["unfit"] = sendable(self._rules.unfit_said[:2_000])
        told["where"] = self._where() if told["ending"] == "failed" else None
        told["words"] = [[file, line, sendable(name[:200])] for file, line, name in self._assertions.words]
        told["own"], told["data"] = self._assertions.own, self._assertions.data
        told["asks"], told["raised"] = self._asks, self._peer.raised
        told["reduced"] = sorted(map(sendable, self._peer.crossing.reduced))[:20]
        return told

    def _begin_test(self) -> None:
        self._reported.clear()
        self._assertions.clear()
        self._rules.unfit_said = ""
        self._peer.crossing.reduced.clear()
        self._peer.raised = 0
        self._last = None
        self._asks = 0
        self._reported.clear()

    def _heard(self, op: str, operands: tuple[Any, ...]) -> None:
        self._asks += 1
        if op not in _LOOKS:
            self._touched = True
        if op in _CALLS:
            self._last = operands[0], operands[1] if op != "call" else ""

    def _where(self) -> Any:
        """Where the submission has what was called last."""
        if self._last is None:
            return None
        value, name = self._last
        if type(value) is Bound:
            value, name = value.__self__, value.__name__
        try:
            place = self._peer.ask("where", value, name)
            return list(place) if isinstance(place, tuple) and len(place) == 2 else None
        except (Exception, EndedError, UnfitError):
            return None

    @staticmethod
    def _seed_hypothesis() -> None:
        if "hypothesis.core" in sys.modules:
            import random

            sys.modules["hypothesis.core"].global_force_seed = random.getrandbits(32)  # type: ignore[attr-defined]
