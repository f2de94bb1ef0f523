"""Replies of a worker, forged as somebody might who owns it: with one thing changed, taken away or added."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from typing import Any, Self
from unittest import mock

import msgspec

from judge_tui.checks.calling.connection import Connection
from judge_tui.checks.calling.replies import checked
from judge_tui.checks.worker import wire

__all__ = ["Conversation", "Forger", "mutated"]

#: What a field may be changed into.
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**63 - 1, 2**64 - 1, -(2**63), 1.5, float("nan"), "", "x" * 90_000, b"bytes", [],
    [[]], [None] * 3000, {}, {"kind": "array"}, {"": {}}, [["i", 0, {"kind": "array", "shape": [-1]}]],
    "../../etc",
)  # fmt: skip
#: Further names that replies are changed to have.
NAMES = ("raised", "bad", "lost", "printed", "tree", "functions", "classes", "path", "same_as", "counters",
         "parts", "shape", "leaves", "bytes", "value", "done", "ended")  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a reply."""
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value[:6]):
            yield from places(part, (*path, index))


def mutated(reply: dict[str, Any], rng: random.Random) -> Any:
    """A reply with one thing changed, taken away or added."""
    reply = msgspec.msgpack.decode(msgspec.msgpack.encode(reply))
    path = rng.choice(list(places(reply)))
    if not path or rng.random() < 0.2:
        return {**reply, rng.choice(NAMES): rng.choice(ODD)} if rng.random() < 0.7 else rng.choice(ODD)
    holder: Any = reply
    for key in path[:-1]:
        holder = holder[key]
    if rng.random() < 0.25:
        del holder[path[-1]]
    else:
        holder[path[-1]] = rng.choice(ODD)
    return reply


class Forger:
    """Forges a share of all replies.

    Args:
        seed: Of what becomes of which.
        share: How many of them.

    Attributes:
        forged: How many were.
    """

    def __init__(self, seed: int, share: float) -> None:
        self.forged = 0
        self._rng, self._share = random.Random(seed), share
        self._patch = mock.patch("judge_tui.checks.calling.connection.wire.receive", self._received)
        self._receive = wire.receive

    def __enter__(self) -> Self:
        """A span in which replies of real workers are forged."""
        self._patch.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._patch.stop()

    def __call__(self, reply: Any) -> Any:
        """A reply, forged or not."""
        known = isinstance(reply, dict) and "op" not in reply
        if not known or self._rng.random() >= self._share:
            return reply
        self.forged += 1
        return mutated(reply, self._rng)

    def _received(self, *arguments: Any, **named: Any) -> tuple[Any, list[int]]:
        reply, fds = self._receive(*arguments, **named)
        return self(reply), fds


class Conversation:
    """What workers replied once, to be said again without one, in the same order for the same request."""

    def __init__(self) -> None:
        self._said: dict[str, list[tuple[Any, bytes]]] = {}

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """A span in which all that real workers reply is kept."""
        heard = Connection._heard

        def listening(
            connection: Any, turn: Any, body: Any = None, fds: Any = (), *, cut: bool = False
        ) -> Any:
            reply = heard(connection, turn, body, fds, cut=cut)
            written = os.pread(fds[-1], 1 << 24, 0) if _fetches(body) else b""
            # kept as bytes: what is done to a reply must not show when it is said again
            self._said.setdefault(_key(body), []).append(
                (msgspec.msgpack.encode(reply, enc_hook=list), written)
            )
            return reply

        with mock.patch.object(Connection, "_heard", listening):
            yield

    @contextlib.contextmanager
    def again(self, forger: Forger) -> Iterator[None]:
        """A span in which nobody but this answers, and a forger changes what it says."""
        turns: dict[str, int] = {}

        def answering(
            connection: Any, turn: Any, body: Any = None, fds: Any = (), *, cut: bool = False
        ) -> Any:
            key = _key(body)
            said = self._said.get(key) or self._said.get(key.partition(" ")[0]) or [(_NOTHING, b"")]
            at = turns[key] = turns.get(key, -1) + 1
            reply, written = said[min(at, len(said) - 1)]
            if _fetches(body):
                size = os.fstat(fds[-1]).st_size
                os.pwrite(fds[-1], written.ljust(size, b"\0")[:size], 0)
            return checked(str((body or {}).get("op", "")), forger(msgspec.msgpack.decode(reply)))

        with (
            mock.patch.object(Connection, "_heard", answering),
            mock.patch("judge_tui.checks.calling.connection.sandbox.launch", return_value=_Nobody()),
        ):
            yield


_NOTHING = msgspec.msgpack.encode({"bad": "nothing"})


class _Nobody:
    """A jail with nothing in it."""

    inner_pid = 0

    def poll(self) -> None:
        """It runs."""

    def kill(self) -> None:
        """It never ran."""

    def wait(self, seconds: float) -> bool:
        """It does not end."""
        return False

    def output(self) -> str:
        """Nothing."""
        return ""

    def ended(self) -> str:
        """As it is said of one that runs."""
        return "is still running"


def _key(body: Any) -> str:
    """The kind of a request: what is asked, of which callable."""
    if body is None:
        return "hello"
    target = body.get("target")
    named = target.get("$f", {}).get("name", "") if isinstance(target, dict) else ""
    return (
        f"{body['op']} {named or body.get('file') or body.get('method') or body.get('shape') or ''}".strip()
    )


def _fetches(body: Any) -> bool:
    return body is not None and body["op"] == "fetch"
