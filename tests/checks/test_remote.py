"""The trusted side takes nothing from a worker on trust: shapes, dtypes, bytes, budgets, ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from judge_tui.checks.calling.own_time import Account
from judge_tui.checks.calling.remote import Handle, Nested, NumpyType, Target, Worker
from judge_tui.checks.faults import BadResult, Died, Raised, TimedOut
from judge_tui.checks.submission import Submission

SOURCE = r'''
import os
import socket
import struct
import sys
import time
from collections import namedtuple

import numpy as np


class Liar(np.ndarray):
    """Claims to be something else in every way that Python lets it."""

    @property
    def shape(self):
        return (2, 3)

    def __array__(self, *args, **kwargs):
        return np.zeros((2, 3))

    def __eq__(self, other):
        return True

    def __len__(self):
        return 2


class Late:
    def __array__(self, dtype=None, copy=None):
        time.sleep(60)


class Weird:
    def __str__(self):
        raise ValueError("no text")


class WeirdError(Exception):
    def __str__(self):
        raise ValueError("no text")


Pair = namedtuple("Pair", "y cache")


def give(what):
    return {
        "array": np.arange(6.0).reshape(2, 3),
        "narrow": np.arange(6, dtype=np.float16).reshape(2, 3),
        "integers": np.arange(6).reshape(2, 3),
        "booleans": np.array([[True, False, True], [False, True, False]]),
        "lists": [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
        "ragged": [[0.0, 1.0], [3.0]],
        "objects": np.array([[1.0, None, 2.0]] * 2, dtype=object),
        "text": "PASS",
        "complex": np.ones((2, 3), dtype=complex),
        "none": None,
        "liar": np.arange(4.0).view(Liar),
        "late": Late(),
        "weird": Weird(),
        "empty": np.zeros((0, 3)),
        "scalar": 2.5,
        "pair": Pair(1.0, {"k": [1, 2]}),
        "strided": np.arange(12.0).reshape(2, 6)[:, ::2],
        "huge": 10**40,
    }[what]


def reshape(array):
    array.shape = array.shape[::-1]


def both(*arrays):
    return arrays


def chatter(n):
    print("out")
    print("err", file=sys.stderr)
    os.write(1, b"raw\n")
    return n


def fail(kind):
    if kind == "weird":
        raise WeirdError
    if kind == "surrogate":
        raise ValueError("\udc80")
    if kind == "group":
        raise ExceptionGroup("many", [ValueError("a")])
    if kind == "float index":
        return [1, 2, 3][: len(kind) / 2]
    if kind == "unsupported":
        raise TypeError("Unsupported type <class 'dict'>")
    if kind == "not implemented":
        raise NotImplementedError
    raise {"key": KeyError("k"), "stop": KeyboardInterrupt(), "exit": SystemExit(7)}[kind]


def deep(n):
    return deep(n + 1)


def spin():
    while True:
        pass


def die(status):
    os._exit(status)


def eat():
    return bytearray(64 << 30)


def control():
    for fd in range(3, 256):
        try:
            s = socket.socket(fileno=os.dup(fd))
            if s.family == socket.AF_UNIX and s.type == socket.SOCK_STREAM:
                return s
        except OSError:
            pass
    raise RuntimeError("no control socket")


def frame(body, length=None):
    return struct.pack("<I", len(body) if length is None else length) + body


def write(data):
    control().sendall(data)
    return 1


def shut():
    control().shutdown(socket.SHUT_RDWR)
    time.sleep(60)


def forge():
    """Answers the next request before it is asked and never works on it; an empty map says: all well."""
    tree = b"\x81\xa4tree\x81\xa4kind\xa4none"
    control().sendall(frame(tree) + frame(b"\x80"))
    time.sleep(60)
'''

Submit = Callable[..., Submission]


@pytest.fixture
def worker(submitted: Submit) -> Iterator[Worker]:
    with Worker(submitted(SOURCE)) as made:
        yield made


def call(worker: Worker, name: str, *args: object, budget: float = 10.0) -> Handle:
    return worker.call(Target("code.py", name), args, budget=budget).handle


RIGHT = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("what", ["array", "narrow", "integers", "lists"])
def test_numbers_of_any_kind_come_as_float64(worker: Worker, what: str) -> None:
    got = worker.fetch(call(worker, "give", what), (2, 3))
    assert got.dtype == np.float64
    assert (got == RIGHT).all()


def test_other_wire_types_and_empty_arrays_and_scalars_come_as_asked(worker: Worker) -> None:
    assert worker.fetch(call(worker, "give", "integers"), (2, 3), np.int64).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert worker.fetch(call(worker, "give", "booleans"), (2, 3), np.bool_).sum() == 3
    assert worker.fetch(call(worker, "give", "empty"), (0, 3)).shape == (0, 3)
    assert worker.fetch(call(worker, "give", "scalar"), ()) == 2.5
    assert (
        worker.fetch(call(worker, "give", "strided"), (2, 3)) == np.arange(12.0).reshape(2, 6)[:, ::2]
    ).all()


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("none", "None instead of an array"), ("objects", "dtype object instead of numbers"),
        ("text", "instead of numbers"), ("complex", "dtype complex128 instead of numbers"),
        ("ragged", "a list that is no array"), ("weird", "dtype object instead of numbers"),
        ("scalar", r"shape \(\) instead of \(2, 3\)"), ("empty", r"shape \(0, 3\) instead of \(2, 3\)"),
        ("liar", r"shape \(4,\) instead of \(2, 3\)"),
    ],
)  # fmt: skip
def test_what_is_no_array_of_that_shape_is_a_bad_result(worker: Worker, what: str, reason: str) -> None:
    with pytest.raises(BadResult, match=reason):
        worker.fetch(call(worker, "give", what), (2, 3))
    assert worker.alive


def test_an_integer_is_not_taken_from_a_float(worker: Worker) -> None:
    with pytest.raises(BadResult, match="dtype float64 instead of integers"):
        worker.fetch(call(worker, "give", "array"), (2, 3), np.int64)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_, np.float32])
def test_a_forged_reply_leaves_the_answer_unwritten(worker: Worker, dtype: type) -> None:
    handle = call(worker, "forge")
    with pytest.raises(BadResult, match="left parts of its answer unwritten"):
        worker.fetch(handle, (2, 3), dtype)


def test_a_header_that_asks_for_gigabytes_is_refused(worker: Worker) -> None:
    with pytest.raises(BadResult, match="over the limit"):
        call(worker, "write", b"\xff\xff\xff\xff")


@pytest.mark.parametrize(
    "body", [b"\x05\x00\x00\x00\xc1\xc1\xc1\xc1\xc1", b"\x01\x00\x00\x00\x2a", b"\x00\x00\x00\x00"]
)
def test_a_frame_that_is_no_reply_is_a_bad_result(worker: Worker, body: bytes) -> None:
    with pytest.raises(BadResult):
        call(worker, "write", body)


def test_a_half_frame_runs_into_the_budget(worker: Worker) -> None:
    with pytest.raises((TimedOut, BadResult)):
        worker.call(Target("code.py", "write"), [b"\xff\x00"], budget=0.5)


def test_an_answer_that_takes_for_ever_to_become_an_array_is_stopped(worker: Worker) -> None:
    handle = call(worker, "give", "late")
    worker.account = Account(0.5)
    with pytest.raises(TimedOut, match="used up the time of the check"):
        worker.fetch(handle, (2, 3))
    assert not worker.alive


def test_what_is_printed_is_captured_and_not_shown(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    result = worker.call(Target("code.py", "chatter"), [1])
    assert result.printed == "out\nerr\n"
    assert capfd.readouterr() == ("", "")


def test_plain_data_keeps_its_shape(worker: Worker) -> None:
    assert worker.value(call(worker, "give", "pair")) == {"y": 1.0, "cache": {"k": [1, 2]}}
    assert worker.value(call(worker, "give", "huge")) == pytest.approx(1e40)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("key", "raised KeyError: 'k'"), ("stop", "raised KeyboardInterrupt"),
        ("exit", "raised SystemExit: 7"),
        ("weird", "raised WeirdError: (its text cannot be read)"), ("surrogate", "raised ValueError: ?"),
        ("group", "raised ExceptionGroup: many (1 sub-exception)"),
        # what a GPU's arrays refuse is the submission's own mistake here
        (
            "float index",
            "raised TypeError: slice indices must be integers or None or have an __index__ method",
        ),
        ("unsupported", "raised TypeError: Unsupported type <class 'dict'>"),
        ("not implemented", "raised NotImplementedError"),
    ],
)  # fmt: skip
def test_an_exception_of_any_kind_is_told_with_its_place(worker: Worker, kind: str, told: str) -> None:
    with pytest.raises(Raised) as found:
        call(worker, "fail", kind)
    assert found.value.message == told
    assert found.value.file == "code.py"
    assert found.value.line is not None
    assert worker.alive


def test_recursion_without_end_is_an_exception(worker: Worker) -> None:
    with pytest.raises(Raised, match="RecursionError"):
        call(worker, "deep", 0)


def test_a_loop_without_end_is_killed_in_time(worker: Worker) -> None:
    started = time.monotonic()
    with pytest.raises(TimedOut, match=r"took longer than its budget of 0\.3 s"):
        call(worker, "spin", budget=0.3)
    assert time.monotonic() - started < 3.0
    assert not worker.alive


@pytest.mark.parametrize("status", [0, 3])
def test_the_end_of_the_process_is_told_whatever_its_status(worker: Worker, status: int) -> None:
    with pytest.raises(Died, match=f"exited with status {status}"):
        call(worker, "die", status)
    assert not worker.alive


def test_a_closed_connection_is_told(worker: Worker) -> None:
    with pytest.raises(Died, match="closed its connection"):
        call(worker, "shut")


def test_more_memory_than_there_is_raises(worker: Worker) -> None:
    with pytest.raises((Raised, Died), match=r"MemoryError|memory"):
        call(worker, "eat")


def test_inputs_are_handed_over_as_fresh_writable_copies(worker: Worker, submitted: Submit) -> None:
    array = np.asfortranarray(RIGHT)
    handle = worker.put(array)
    array[:] = 0
    assert (worker.fetch(handle, (2, 3)) == RIGHT).all()
    leaf = worker.leaves(handle)[0]
    assert (leaf["shape"], leaf["dtype"]) == ([2, 3], "float64")
    assert worker.value(worker.put(Nested(RIGHT))) == RIGHT.tolist()
    assert worker.value(worker.put((1, [2.5, "x"], {"a": None}))) == [1, [2.5, "x"], {"a": None}]
    assert worker.value(worker.call(Target("code.py", "chatter"), [NumpyType("float32")]).handle)


def test_parts_of_an_object_are_reached_replaced_and_refused(worker: Worker) -> None:
    pair = call(worker, "give", "pair")
    assert worker.value(pair.part(("a", "cache"), ("k", "k"), ("i", 1))) == 2
    changed = worker.substituted(pair, (("a", "cache"), ("k", "k"), ("i", 1)), 5)
    assert worker.value(changed)["cache"] == {"k": [1, 5]}
    assert worker.value(pair)["cache"] == {"k": [1, 2]}
    with pytest.raises(BadResult, match=r"no key 'z' in a dict"):
        worker.value(pair.part(("a", "cache"), ("k", "z")))


def test_arrays_that_wait_for_a_request_come_in_any_number_and_of_any_size(worker: Worker) -> None:
    """A frame carries 64 descriptors; an answer's buffer needs one of them."""
    many = [worker.put(np.full((n % 3, 2), float(n))) for n in range(150)]
    large = worker.put(np.arange(1 << 16, dtype=np.float64))
    last = worker.put(RIGHT)
    assert (worker.fetch(last, (2, 3)) == RIGHT).all()
    assert (worker.fetch(many[149], (2, 2)) == 149.0).all()
    assert (worker.fetch(many[1], (1, 2)) == 1.0).all()
    assert worker.fetch(large, (1 << 16,))[-1] == (1 << 16) - 1


def test_a_description_is_of_the_object_as_it_is_now(worker: Worker) -> None:
    given = call(worker, "give", "array")
    assert worker.describe(given)["shape"] == [2, 3]
    # so that a description that was known before cannot be told for it
    worker.call(Target("code.py", "reshape"), [given])
    assert worker.describe(given)["shape"] == [3, 2]
    pair = worker.call(Target("code.py", "both"), [given, given]).handle
    assert worker.describe(pair.part(("i", 1)))["kind"] == "array"
    worker.set(pair.part(("i", 1)), "shape", (6,))
    assert worker.describe(pair.part(("i", 0)))["shape"] == [6]
