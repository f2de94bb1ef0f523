"""The wire between the trusted side and the worker: framed msgpack over a socket pair.

A frame is a 4-byte little-endian length and a msgpack body. The trusted side may
attach file descriptors (memfds) to a frame; the worker attaches none, and the
trusted side would not take them.

Values in a request are plain msgpack, and these one-key maps:

``{"$h": id, "path": [...]}``            an object that the worker keeps, or a part of it
``{"$a": i, "shape": […], "dtype": s}``  an array in the i-th attached memfd, handed over as a fresh copy;
                                         ``s`` as NumPy has it, or ``bfloat16``; with ``axes``, ``flipped``
                                         and ``stepped`` it is a view of it (see :mod:`.strides`)
``{"$l": value}``                        the same as nested lists
``{"$c": {…}}``                          a dict whose keys are attributes too (see :mod:`.context`)
``{"$t": [values]}``                     a tuple
``{"$v": bytes}``                        any value that crosses by value (see :mod:`.border.codec`)
``{"$d": "float32"}``                    a NumPy scalar type
``{"$g": 7}``                            a NumPy random generator with that seed
``{"$m": {…}}``                          a scripted model (see :mod:`.scripted.models`)
``{"$f": {"file": s, "name": s}}``       a callable or class of the submission

Plain data in a reply holds extensions with code 1: msgpack of ``[items, {name: attribute}]``, which stand for
a list or dict with attributes (see :mod:`.attributed`).
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Any

import msgspec

from .attributed import AttributedDict, AttributedList, attributed

__all__ = ["MAX_FDS", "MAX_FRAME", "MAX_REPLY", "receive", "send", "with_attributes"]

#: Longest body that either side accepts, in bytes.
MAX_FRAME = 32 << 20
#: Longest reply of a worker, in bytes.
MAX_REPLY = 4 << 20
#: Most file descriptors that one frame carries.
MAX_FDS = 64

_LENGTH = struct.Struct("<I")
_ATTRIBUTED = 1


def _exact(value: Any) -> Any:
    """The number or text itself where a submission answers with a subclass; no method of that is asked."""
    if isinstance(value, float):
        return float.__pos__(value)
    if isinstance(value, int):
        return int.__pos__(value)
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"a {type(value).__name__} cannot be sent")


_encode = msgspec.msgpack.Encoder(enc_hook=_exact).encode


def _extension(code: int, data: memoryview) -> AttributedList | AttributedDict:
    told = _decode(data)
    if code != _ATTRIBUTED or not isinstance(told, list) or len(told) != 2:
        raise ValueError(f"a frame holds an extension {code} that is none")
    return attributed(*told)


_decode = msgspec.msgpack.Decoder(ext_hook=_extension).decode


def with_attributes(items: Any, attributes: dict[str, Any]) -> msgspec.msgpack.Ext:
    """What is sent for a list or dict with attributes.

    Args:
        items: The list or dict, as plain data.
        attributes: Name → plain data.
    """
    return msgspec.msgpack.Ext(_ATTRIBUTED, _encode([items, attributes]))


def send(control: socket.socket, body: Any, fds: tuple[int, ...] = (), *, most: int = MAX_FRAME) -> None:
    """Send one frame.

    Args:
        control: The socket.
        body: What msgpack can carry.
        fds: File descriptors that go with it.
        most: Bytes of the body at most.

    Raises:
        OSError: The other side is gone.
        ValueError: The body is longer.
    """
    data = _encode(body)
    if len(data) > most:
        raise ValueError(f"an answer of {len(data)} bytes is over the limit of {most}")
    # In one piece: a length that comes alone wakes the other side up for nothing.
    frame = _LENGTH.pack(len(data)) + data
    sent = socket.send_fds(control, [frame], list(fds)) if fds else 0
    if sent < len(frame):
        control.sendall(frame[sent:] if sent else frame)


def receive(
    control: socket.socket,
    *,
    with_fds: bool = False,
    most: int = MAX_FRAME,
    affordable: Callable[[bytes], bool] = lambda body: True,
) -> tuple[Any, list[int]]:
    """Receive one frame; blocks, or honours the socket's timeout.

    Args:
        control: The socket.
        with_fds: Whether file descriptors are accepted (only the worker does).
        most: Bytes of a body that are accepted.
        affordable: Whether a body may be taken apart, asked before that is done.

    Raises:
        EOFError: The other side closed.
        ValueError: The frame is malformed or too long.
    """
    fds: list[int] = []
    if with_fds:
        head, fds, _flags, _address = socket.recv_fds(control, _LENGTH.size, MAX_FDS)
        if not head:
            raise EOFError("the other side closed")
        head += _exactly(control, _LENGTH.size - len(head))
    else:
        head = _exactly(control, _LENGTH.size)
    (length,) = _LENGTH.unpack(head)
    if length > most:
        raise ValueError(f"a frame of {length} bytes is over the limit of {most}")
    body = _exactly(control, length)
    if not affordable(body):
        raise ValueError("a frame has more parts than are taken")
    try:
        return _decode(body), fds
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"a frame is not msgpack: {error}") from error


def _exactly(control: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = control.recv(min(count, 1 << 20))
        if not part:
            raise EOFError("the other side closed")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
