"""Plain data of a submission's own lists, tuples, dicts and arrays: items, and attributes beside."""

from __future__ import annotations

import socket
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable
from threading import Thread
from typing import Any

import msgspec
import numpy as np
import pytest

from judge_tui.checks.worker import describe, wire
from judge_tui.checks.worker.attributed import attributes_of
from judge_tui.checks.worker.replacing import replaced
from judge_tui.checks.worker.values import plain, poisoned


class Words(list[int]):
    __slots__ = ("_score", "ended", "parent")

    def __init__(self, words: Any, score: float, parent: Any = None) -> None:
        super().__init__(words)
        self._score, self.ended, self.parent = score, True, parent

    @property
    def score(self) -> float:
        return self._score


class Row(tuple[int, ...]):
    score: Any

    def __new__(cls, items: Any, score: Any) -> Row:
        made = super().__new__(cls, items)
        made.score = score
        return made


class Named(namedtuple("Named", "tokens score")):
    @property
    def length(self) -> int:
        return len(self.tokens)


class Open(dict[str, Any]):
    def __init__(self, **keys: Any) -> None:
        super().__init__(**keys)
        self.__dict__ = self


class Marked(np.ndarray[Any, Any]):
    score = 0.0


def received(value: Any) -> Any:
    """What the other end of the wire gets."""
    return _carried(wire.send, plain(value))


def _carried(send: Callable[[socket.socket, Any], None], body: Any) -> Any:
    one, other = socket.socketpair()
    with one, other:
        sending = Thread(target=send, args=(one, body))
        sending.start()
        try:
            return wire.receive(other)[0]
        finally:
            sending.join(5.0)


def test_attributes_and_properties_come_beside_the_items() -> None:
    got = received([Words([3, 1], -0.5)])[0]
    assert got == [3, 1]
    assert got[1] == 1
    assert (got["score"], got["_score"], got["ended"], got["parent"]) == (-0.5, -0.5, True, None)
    row = received(Row((4, 5), np.float32(1.5)))
    assert row == [4, 5]
    assert row["score"] == 1.5
    array = np.arange(3).view(Marked)
    array.score = 2.5
    assert (received(array), received(array)["score"]) == ([0, 1, 2], 2.5)


def test_what_has_no_attributes_of_its_own_comes_as_it_is() -> None:
    assert received(Named([1], 2.0)) == {"tokens": [1], "score": 2.0, "length": 1}
    for value, told in (
        (Open(tokens=[1]), {"tokens": [1]}),
        (OrderedDict(a=1), {"a": 1}),
        (deque([1, 2]), [1, 2]),
        (np.ma.masked_array([1, 2], [0, 0]), [1, 2]),
        (np.arange(3).view(Marked), [0, 1, 2]),
    ):
        assert received(value) == told
        assert not attributes_of(received(value))


def test_attributes_without_end_or_of_any_size_are_left_out() -> None:
    words = Words([1], -0.5)
    words.parent = words
    inner = received(words)
    for _level in range(8):
        inner = attributes_of(inner).get("parent", inner)
    assert inner == [1]
    many = [Words([number], float(number), np.zeros((50, 50))) for number in range(500)]
    many[0].parent = np.zeros(10**7)
    got = received(many)
    assert [words["score"] for words in got] == [float(number) for number in range(500)]
    assert "parent" not in attributes_of(got[0])


def test_a_forged_extension_is_a_malformed_frame() -> None:
    deep = b"\xc0"
    for _level in range(4000):
        deep = msgspec.msgpack.encode(msgspec.msgpack.Ext(1, deep))
    forged = [msgspec.msgpack.encode(msgspec.msgpack.Ext(code, body)) for code, body in (
        (1, b"\xc1"), (1, b"\x91\x01"), (1, b"\x92\x03\x80"), (2, b"\x92\x90\x80"),
    )]  # fmt: skip
    for frame in (*forged, deep):
        with pytest.raises(ValueError, match=r"frame|attributes"):
            _carried(_raw, frame)


def _raw(control: socket.socket, frame: bytes) -> None:
    control.sendall(len(frame).to_bytes(4, "little") + frame)


def test_attributes_are_parts_of_an_object_and_kept_in_copies() -> None:
    words, row = Words([3, 1], -0.5), Row((4, 5), 1.5)
    assert [path for path, _value in describe.leaves(row)] == [[["i", 0]], [["i", 1]], [["a", "score"]]]
    assert describe.locate(words, [["a", "score"]]) == -0.5
    changed = replaced(row, [["i", 0]], 9)
    assert (changed, changed.score) == ((9, 5), 1.5)
    changed = replaced(row, [["a", "score"]], 9)
    assert (changed, changed.score, row.score) == ((4, 5), 9, 1.5)
    assert poisoned(words).score == poisoned(row).score - 2 == -0.5
