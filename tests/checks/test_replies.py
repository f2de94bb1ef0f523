"""Whatever a worker replies is an answer or a fault of the submission, and never the engine's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from judge_tui.checks.calling.replies import MOST_OBJECTS, affordable, checked
from judge_tui.checks.faults import BadResult
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Verdict

from .forging import Forger

Submit = Callable[..., Submission]
RIGHT = """
import numpy as np

class Kept:
    def __init__(self, x, factor):
        self.x, self.factor = x, factor

def scale_forward(x, factor):
    return x * factor, {"kept": Kept(x, factor), "list": [1, 2.5, "three", None]}

def scale_backward(dy, cache):
    kept = cache["kept"]
    return dy * kept.factor, (dy * kept.x).reshape(-1, kept.factor.size).sum(0)
"""


@pytest.mark.parametrize("part", range(4))
def test_no_forged_reply_breaks_the_engine(part: int, submitted: Submit, scale: Task) -> None:
    submission = submitted(RIGHT)
    for seed in range(part * 10, part * 10 + 10):
        with Forger(seed, 0.3):
            outcomes = judge(scale, submission, seed=3, checks=["right", "purity", "loads"])
        told = {check: outcome.summary for check, outcome in outcomes.items()}
        assert Verdict.ERROR not in {outcome.verdict for outcome in outcomes.values()}, (seed, told)


@pytest.mark.parametrize(
    "reply",
    [7, None, [], "text", {"raised": 3}, {"raised": {}}, {"printed": 5}, {"functions": 3, "classes": []},
     {"functions": [{"name": 3}], "classes": []}, {}, {"functions": [], "classes": [], "missing": []},
     {"functions": [], "classes": [], "printed": "x" * 10**6}],
)  # fmt: skip
def test_what_is_no_inventory_is_no_answer(reply: Any) -> None:
    with pytest.raises(BadResult, match="malformed"):
        checked("load", reply)


def test_what_a_worker_says_honestly_is_an_answer() -> None:
    params = [{"name": "x", "kind": "POSITIONAL_OR_KEYWORD", "default": None, "annotation": "Array"}]
    function = {"name": "f", "line": 3, "doc": "", "params": params}
    methods = [{**function, "static": False}]
    made = {"name": "C", "line": 1, "doc": "", "bases": ["B"], "params": None, "methods": methods}
    reply = {"functions": [function], "classes": [made], "objects": [], "missing": {"torch": ["a.py"]}}
    assert checked("load", reply) is reply
    assert checked("value", {"value": [[1, {"a": None}]]})
    assert checked(
        "load", {"raised": {"type": "E", "message": "", "traceback": "", "file": None, "line": None}}
    )


@pytest.mark.parametrize(
    "leaf",
    [{"path": [[]], "kind": "int"}, {"path": [["i"]], "kind": "int"}, {"path": [["z", 0]], "kind": "int"},
     {"path": [], "kind": "array"}, {"path": [], "kind": "array", "shape": [2], "dtype": "float64"},
     {"path": [], "kind": "array", "shape": [2], "dtype": "float64", "nbytes": 16, "same_as": 0}],
)  # fmt: skip
def test_an_entry_of_a_cache_that_does_not_fit_its_kind_is_no_answer(leaf: dict[str, Any]) -> None:
    with pytest.raises(BadResult, match="malformed"):
        checked("leaves", {"leaves": [leaf]})


def test_a_type_that_is_none_is_that_of_anything() -> None:
    known = {"path": [["k", True]], "kind": "array", "shape": [2], "nbytes": 16}
    for dtype in ("float1024", "[('a', '<i4')]", "x" * 900):
        assert checked("leaves", {"leaves": [{**known, "dtype": dtype}]})["leaves"][0]["dtype"] == "object"
    for dtype in ("float32", "bfloat16", "int64", "bool", "<U7", "complex128"):
        assert checked("leaves", {"leaves": [{**known, "dtype": dtype}]})["leaves"][0]["dtype"] == dtype


def test_millions_of_empty_parts_are_refused_before_they_cost_anything() -> None:
    assert affordable(b"\x90" * MOST_OBJECTS)
    assert not affordable(b"\x80" * (MOST_OBJECTS + 1))
    assert affordable(msgspec.msgpack.encode([float(n) / 7 for n in range(400_000)]))


BOMB = """
import os, socket, struct, time

def control():
    for fd in range(3, 4096):
        try:
            found = socket.socket(fileno=fd)
        except OSError:
            continue
        if found.family == socket.AF_UNIX:
            return found

def scale_forward(x, factor):
    body = {body}
    control().sendall(struct.pack("<I", len(body)) + body)
    time.sleep(60)

def scale_backward(dy, cache):
    return dy, dy[0]
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("bytes([0xdc, 0xff, 0xff]) + bytes([0x80]) * 3_000_000", "more parts"),
        ("bytes(9 << 20)", "over the limit"),
    ],
)
def test_a_reply_that_would_fill_the_memory_is_a_fault_and_costs_none(
    body: str, said: str, submitted: Submit, scale: Task
) -> None:
    outcome = judge(scale, submitted(BOMB.format(body=body)), seed=1, checks=["right"])["right"]
    assert outcome.verdict in (Verdict.FAIL, Verdict.UNBOUND)
    assert len(msgspec.json.encode(outcome)) < 100_000
    assert said in outcome.summary + "".join(item.output for item in outcome.evidence)
