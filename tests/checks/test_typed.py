"""Data that is read as a type, from several threads at once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import judge_tui.checks
from judge_tui.checks.typed import converted, from_json, from_msgpack

ROOT = Path(judge_tui.checks.__file__).parents[1]
#: What msgspec does with a type in the place where it is asked to: two threads at once end the process.
_BY_ITSELF = re.compile(r"msgspec\.(json|msgpack)\.(decode\(.*type=|Decoder\(\w)|msgspec\.convert\(")


class Pair(msgspec.Struct):
    left: int
    right: list[str]


def test_types_are_read_in_one_place() -> None:
    """Files of a worker are copied to where there is nothing else; each reads by one thread."""
    sources = [
        file
        for room in ("checks", "judging", "reports", "tui", "cli")
        for file in (ROOT / room).rglob("*.py")
    ]
    own = [file for file in sources if "worker" not in file.parts and file.name != "typed.py"]
    assert len(own) > 500
    assert [str(file) for file in own if _BY_ITSELF.search(file.read_text("utf-8"))] == []


def test_what_does_not_fit_is_told() -> None:
    assert from_json(b'{"left": 1, "right": ["a"]}', Pair) == Pair(1, ["a"])
    assert from_msgpack(msgspec.msgpack.encode({"left": 1, "right": []}), Pair) == Pair(1, [])
    assert converted({"left": 2, "right": []}, Pair) == Pair(2, [])
    with pytest.raises(msgspec.ValidationError):
        from_json(b'{"left": "1", "right": []}', Pair)
    with pytest.raises(msgspec.ValidationError):
        converted({"left": 1}, Pair)


def test_threads_that_read_a_type_at_once_end_nothing() -> None:
    program = """
import sys, threading
from judge_tui.checks.events import decode, encode, Started
from judge_tui.checks.store import Run
from judge_tui.checks.typed import from_json
sys.setswitchinterval(1e-7)
start = threading.Barrier(6)
def events():
    start.wait()
    decode(encode(Started("kv", "a", "b")))
def runs():
    start.wait()
    from_json(b"[]", tuple[Run, ...])
threads = [threading.Thread(target=each) for each in (events, runs) * 3]
[each.start() for each in threads]
[each.join() for each in threads]
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
