"""Samples: whose answer a line is, in all the ways that lines say it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judge_tui.cli.bringing.samples import Sample, looks_like_samples, samples_in


def read(*lines: Any) -> tuple[list[Sample], list[tuple[int, str]]]:
    faults: list[tuple[int, str]] = []
    data = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return samples_in(data, faults), faults


def one(**keys: Any) -> Sample:
    [found], faults = read(keys)
    assert not faults
    return found


def test_a_line_says_model_task_and_answer() -> None:
    assert one(model="m", task="kv", completion="x") == Sample(1, "m", "kv", "x")
    assert one(model_name="m", task_id="HumanEval/12", solution="x").task == "HumanEval/12"
    assert one(task_id=12, completion="x").task == "12"
    assert one(completion="x") == Sample(1, "", "", "x")


@pytest.mark.parametrize(
    "keys",
    [
        {"completion": "x"},
        {"answer": "x"},
        {"response": "x"},
        {"text": "x"},
        {"solution": "x"},
        {"output": {"text": "x"}},
        {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]},
        {"messages": [{"role": "assistant", "content": "y"}, {"role": "assistant", "content": "x"}]},
        {"messages": [{"role": "assistant", "content": [{"type": "text", "text": "x"}]}]},
        {"choices": [{"message": {"role": "assistant", "content": "x"}}]},
        {"choices": [{"text": "x"}]},
        {
            "response": {
                "status_code": 200,
                "body": {"model": "m", "choices": [{"message": {"content": "x"}}]},
            }
        },
        {"content": [{"type": "text", "text": "x"}]},
        {"completion": None, "response": "x"},
        {"completion": " ", "response": "x"},
    ],
    ids=range(15),
)
def test_an_answer_is_found_however_it_is_told(keys: dict[str, Any]) -> None:
    assert one(**keys).text == "x"


def test_an_empty_answer_is_one() -> None:
    assert one(completion="").text == ""


def test_a_list_of_answers_is_several() -> None:
    found, faults = read({"completion": ["x", "y"]}, {"choices": [{"text": "z"}, {"text": "w"}]})
    assert [sample.text for sample in found] == ["x", "y", "z", "w"]
    assert not faults


def test_an_answer_that_goes_on_within_a_function_has_its_prompt_before_it() -> None:
    assert one(prompt="def f():\n", completion="    return 1\n").text == "def f():\n    return 1\n"
    assert one(prompt="Write f.", completion="def f(): ...").text == "def f(): ..."


def test_numbers_say_which_attempt_it_is_and_which_comes_first() -> None:
    assert one(completion="x", attempt=3).attempt == 3
    assert one(completion="x", sample=4).order == 4
    assert one(completion="x", n="four").order == 0


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "is no JSON"),
        (b"3", "is no object"),
        (b"[]", "is no object"),
        (b"\xff", "is no JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        ({}, "has no answer"),
        ({"completion": 3}, "has no answer"),
        ({"completion": []}, "has no answer"),
        ({"messages": [{"role": "user", "content": "x"}]}, "has no answer"),
        ({"completion": "x", "model": 3.5}, "'model' must be a text"),
        ({"completion": "x", "task": ["kv"]}, "'task' must be a text"),
        ({"completion": "x", "attempt": "2"}, "'attempt' must be a whole number"),
        ({"completion": "x", "attempt": 0}, "'attempt' must be the number of one answer"),
        ({"completion": ["x", "y"], "attempt": 2}, "'attempt' must be the number of one answer"),
        (b'{"completion": "x", "attempt": ' + b"9" * 5000 + b"}", "is no JSON"),
    ],
    ids=range(15),
)
def test_a_fault_is_told_with_its_line(line: Any, told: str) -> None:
    found, faults = read({"completion": "x"}, b"", line, {"completion": "y"})
    assert [sample.line for sample in found] == [1, 4]
    assert [(number, told in sentence) for number, sentence in faults] == [(3, True)]


def test_samples_are_seen_by_their_first_line() -> None:
    assert looks_like_samples(b'\n{"task_id": "x", "completion": "y"}\n{"')
    assert not looks_like_samples(b'{"x": 1}\n')
    assert not looks_like_samples(b"{ x\n")
    assert not looks_like_samples(b"def f(): pass\n")
