"""Messages of a socket: in pieces, several at once, too long, and none at all."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from judge_tui.checks.worker.border.incoming import Incoming
from judge_tui.checks.worker.border.messages import HEAD, MOST_BYTES, Control, framed

LONG = Control("long", {"text": "x" * 400_000})


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        yield here, there


def test_messages_come_in_pieces_and_several_at_once(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    incoming = Incoming(here)
    whole = framed(Control("first")) + framed(Control("second")) + framed(Control("third"))
    for piece in (whole[:2], whole[2:7], whole[7:-1]):
        there.sendall(piece)
        incoming.more()
    assert [incoming.next(), incoming.next(), incoming.next()] == [Control("first"), Control("second"), None]
    there.sendall(whole[-1:])
    incoming.more()
    assert incoming.next() == Control("third")


def test_what_was_read_ahead_and_what_is_longer_than_the_room(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    here, there = ends
    data = framed(LONG)
    incoming = Incoming(here, data[:9])
    for start in range(9, len(data), 100_000):
        there.sendall(data[start : start + 100_000])
        incoming.more()
    assert incoming.wait() == LONG


def test_too_long_no_message_and_nobody_there(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    with pytest.raises(ValueError, match="over the limit of 33,554,432"):
        Incoming(here, HEAD.pack(MOST_BYTES + 1)).next()
    with pytest.raises(ValueError, match="a message that is none"):
        Incoming(here, HEAD.pack(1) + b"\xc1").next()
    there.close()
    with pytest.raises(EOFError):
        Incoming(here).wait()
