"""The submission's end of a border: what a test asks is carried out here, each of its threads in another."""

from __future__ import annotations

import random
import socket
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ..capture import Capture
from .channel import EndedError
from .messages import Ask, Control, Done, Message
from .peer import Peer
from .rules import SubmissionRules
from .stacks import stacks

if TYPE_CHECKING:
    from ..load import Library

__all__ = ["Serving", "seed"]

_NAME = "submission"


def seed(number: int) -> None:
    """Seed what a program draws from without a generator of its own."""
    random.seed(number)
    np.random.seed(number % 2**32)


class Serving:
    """One process of a submission, for the tests of a challenge.

    Args:
        library: Its modules.
        beside: The socket beside the main one.
        entry: The file that a test imports as ``submission``.
        number: Seed.

    Raises:
        BaseException: What importing the file raises.
    """

    def __init__(self, library: Library, beside: socket.socket, entry: str, number: int) -> None:
        self._library, self._beside, self._entry = library, beside, entry
        self._capture = Capture()
        seed(number)
        library.module(entry)

    def serve(self, main: socket.socket) -> None:
        """Serve until the engine is gone.

        Args:
            main: The main socket.
        """
        sys.stdout = sys.stderr = self._capture
        rules = SubmissionRules(self._library.root, self._module, self._capture.news)
        peer = Peer(rules, main, self._beside, 1, self._controlled)
        while True:
            try:
                message = peer.channel.receive()
                if isinstance(message, Ask):
                    peer.serve(message)
            except (EOFError, OSError, EndedError):
                return

    def _controlled(self, control: Control) -> Message:
        return Done(stacks(self._library.root))

    def _module(self, name: str) -> Any:
        """A module by the name that a test has for it."""
        top, *inner = name.split(".")
        library = self._library
        if top != _NAME:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        if not inner:
            return library.module(self._entry)
        folder = self._entry.rpartition("/")[0]
        path = "/".join([*([folder] if folder else []), *inner])
        for file in (f"{path}.py", f"{path}/__init__.py"):
            if (self._library.root / file).is_file():
                return library.module(file)
        if (self._library.root / path).is_dir():
            # a package without a file of its own
            return library.module(f"{path}/__init__.py")
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)
