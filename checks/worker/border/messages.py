"""Messages between a jail and the engine while a test runs: a length, and msgpack of one of these.

Values go as bytes of :mod:`.codec`, which the engine passes on and never reads. Every thread of a test has a
number, even ones those that the author's side began, odd ones those of the submission; on one thread, whoever
is asked may ask back before answering, and nobody else says anything.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from .codec import TooMuchError

__all__ = [
    "DEEPEST",
    "HEAD",
    "MOST_BYTES",
    "MOST_THREADS",
    "OPERATIONS",
    "Answer",
    "Ask",
    "Control",
    "Done",
    "How",
    "Refusal",
    "framed",
    "read",
]

#: Bytes of one message at most.
MOST_BYTES = 32 << 20
#: Calls may nest so deep, and so many threads of a test may be at the border.
DEEPEST, MOST_THREADS = 32, 256
HEAD = struct.Struct("<I")

#: What one side may ask of an object of the other's.
OPERATIONS = frozenset(
    {
        *("module", "get", "set", "del", "dir", "call", "method", "special", "class", "find", "signature"),
        *("copy", "deepcopy", "where", "exit", "contents"),
    }
)

Thread = Annotated[int, msgspec.Meta(ge=0, le=2 * MOST_THREADS)]
Released = Annotated[list[tuple[int, int]], msgspec.Meta(max_length=1_000_000)]
Name = Annotated[str, msgspec.Meta(max_length=64)]


class How:
    """How an ask was answered."""

    VALUE, RAISED, ENDED = 0, 1, 2


class Ask(msgspec.Struct, array_like=True, tag=0):
    """One side asks something of an object of the other's.

    Attributes:
        thread: Number of the thread.
        op: One of :data:`OPERATIONS`.
        operands: A tuple of them, the object first.
        released: Numbers of objects that are of no use any more, and how often they had been told.
    """

    thread: Thread
    op: Name
    operands: bytes
    released: Released = []


class Answer(msgspec.Struct, array_like=True, tag=1):
    """What came of it.

    Attributes:
        thread: Number of the thread.
        how: A value, an exception, or that the other side is no more.
        value: The value or the exception; of one that ended, a clause in UTF-8.
        changed: Containers among the operands that were changed meanwhile: pairs of index and contents.
        printed: What was printed since the last answer.
        released: As in :class:`Ask`.
    """

    thread: Thread
    how: Annotated[int, msgspec.Meta(ge=0, le=2)]
    value: bytes
    changed: bytes = b""
    printed: Annotated[str, msgspec.Meta(max_length=200_000)] = ""
    released: Released = []


class Done(msgspec.Struct, array_like=True, tag=2):
    """What a control message was answered with."""

    body: dict[str, Any]


class Refusal(msgspec.Struct, array_like=True, tag=3):
    """One side was told what nobody may say: the other is ended.

    Attributes:
        thread: On which thread.
        clause: What it was.
    """

    thread: Thread
    clause: Annotated[str, msgspec.Meta(max_length=2_000)]


class Control(msgspec.Struct, array_like=True, tag=4):
    """What the engine asks of a jail.

    Attributes:
        name: What.
        body: With what.
    """

    name: Name
    body: dict[str, Any] = {}


Message = Ask | Answer | Done | Refusal | Control
_encode = msgspec.msgpack.Encoder().encode
_decode: Callable[[bytes | bytearray | memoryview], Message] = msgspec.msgpack.Decoder(Message).decode


def framed(message: Message) -> bytes:
    """A message as it is sent.

    Raises:
        TooMuchError: It is too long.
    """
    data = _encode(message)
    if len(data) > MOST_BYTES:
        raise TooMuchError(f"a value of {len(data):,} bytes, where {MOST_BYTES:,} are the most that crosses")
    return HEAD.pack(len(data)) + data


def read(data: bytes | bytearray | memoryview) -> Message:
    """The message that bytes hold.

    Raises:
        ValueError: They hold none.
    """
    try:
        return _decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"a message that is none: {str(error)[:200]}") from error
