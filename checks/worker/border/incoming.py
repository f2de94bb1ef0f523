"""Bytes that come over a socket, cut into messages.

They are taken in by the same piece of memory each time: to be given a new one, of the size that the longest
message may need, takes longer than all that is done with a short one.
"""

from __future__ import annotations

import socket

from .messages import HEAD, MOST_BYTES, Message, read

__all__ = ["Incoming"]

_ROOM = 1 << 18


class Incoming:
    """The messages of one socket, one after another.

    Args:
        source: The socket.
        ahead: What was read of it already.
    """

    __slots__ = ("_ahead", "_room", "_source")

    def __init__(self, source: socket.socket, ahead: bytes = b"") -> None:
        self._source = source
        self._ahead = bytearray(ahead)
        self._room = memoryview(bytearray(_ROOM))

    def more(self) -> None:
        """Take in what has come; where that is nothing, as the socket does.

        Raises:
            EOFError: The other side closed.
        """
        size = self._source.recv_into(self._room)
        if not size:
            raise EOFError("the other side closed")
        self._ahead += self._room[:size]

    def next(self) -> Message | None:
        """The next message; ``None`` where it has not come whole.

        Raises:
            ValueError: It is none, or too long.
        """
        ahead = self._ahead
        if len(ahead) < HEAD.size:
            return None
        (length,) = HEAD.unpack_from(ahead)
        if length > MOST_BYTES:
            raise ValueError(f"a message of {length:,} bytes, over the limit of {MOST_BYTES:,}")
        end = HEAD.size + length
        if len(ahead) < end:
            return None
        data = ahead[HEAD.size : end]
        del ahead[:end]
        return read(data)

    def wait(self) -> Message:
        """The next message, once it has come; for a socket that waits.

        Raises:
            EOFError: The other side closed.
            ValueError: It is none, or too long.
        """
        while (message := self.next()) is None:
            self.more()
        return message
