"""Samples: a line of JSON for each answer, as evaluations of code write them.

Source: ``samples.jsonl`` of HumanEval and EvalPlus (``task_id``, ``completion`` or ``solution``), chats as
lists of messages, and what the interfaces of models answer (``choices``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge_tui.cli.bringing.brought import MOST_BYTES, Refused

__all__ = ["Sample", "looks_like_samples", "samples_in"]

_MODEL = ("model", "model_name", "model_id", "generator")
_TASK = ("task", "task_id", "problem", "problem_id", "challenge")
_ANSWERS = (
    "completion completions answer answers response responses solution text output outputs generation "
    "generations generated_text code content"
)
_TEXT = tuple(_ANSWERS.split())
_WITHIN = ("message", "choices", "messages", "body", "delta", *_TEXT)
_ATTEMPT = "attempt"
_ORDER = ("sample", "sample_id", "sample_index", "n", "index", "completion_id")
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer.

    Attributes:
        line: Its 1-based line.
        model: As the line says it; empty where it does not.
        task: As the line says it; empty where it does not.
        text: The answer.
        attempt: The number that it says that it has among the model's answers.
        order: What it is sorted by among them, where it says that.
    """

    line: int
    model: str
    task: str
    text: str
    attempt: int | None = None
    order: int = 0


def looks_like_samples(data: bytes) -> bool:
    """Whether the first line is a JSON object with an answer in it."""
    first = next((line for line in data[:1_000_000].split(b"\n") if line.strip()), b"")
    if not first.lstrip().startswith(b"{"):
        return False
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and any(key in value for key in _WITHIN)


def samples_in(data: bytes, faults: list[tuple[int, str]]) -> list[Sample]:
    """The answers of a file of lines.

    Args:
        data: The file.
        faults: Takes line and sentence of what is wrong.
    """
    found: list[Sample] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            try:
                found += _of_line(number, line)
            except Refused as error:
                faults.append((number, error.message))
    return found


def _of_line(number: int, line: bytes) -> Iterator[Sample]:
    raw = _object(line)
    texts = _texts(raw)
    if not texts:
        raise Refused(f"has no answer: one of {', '.join(_TEXT[:6:2])} or messages must be a text.")
    said, prompt = _number(raw, _ATTEMPT), raw.get("prompt")
    if said is not None and (said < 1 or len(texts) > 1):
        raise Refused("'attempt' must be the number of one answer, from 1 on.")
    order = next((value for key in _ORDER if (value := _number(raw, key, strict=False)) is not None), 0)
    model, task = _word(raw, _MODEL), _word(raw, _TASK)
    for text in texts:
        yield Sample(number, model, task, _whole(text, prompt), said, order)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise Refused(f"is no JSON: {error.msg}.") from error
    except RecursionError as error:
        raise Refused("is nested too deeply.") from error
    except ValueError as error:
        raise Refused("is no JSON in UTF-8.") from error
    if not isinstance(value, dict):
        raise Refused("is no object.")
    return value


def _word(raw: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    key = next((key for key in keys if raw.get(key) is not None), "")
    value = raw[key] if key else ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise Refused(f"'{key}' must be a text.")
    return value


def _number(raw: Mapping[str, Any], key: str, *, strict: bool = True) -> int | None:
    value = raw.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if strict and value is not None:
        raise Refused(f"'{key}' must be a whole number.")
    return None


def _texts(raw: Mapping[str, Any]) -> list[str]:
    """The answers of a line: those of the first key that has some; a model may have answered with nothing."""
    found = [_within(raw[key], 0) for key in (*_TEXT, "choices", "messages", "message") if key in raw]
    said = [texts for texts in found if any(text.strip() for text in texts)]
    return next(iter([*said, *filter(None, found)]), [])


def _within(value: Any, depth: int) -> list[str]:
    """The answers in a value: a text, a list of them, a chat, or what an interface answered."""
    if isinstance(value, str):
        return [value]
    if depth > _DEEPEST:
        return []
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and "role" in item for item in value):
            said = [item for item in value if item["role"] in ("assistant", "model")]
            return _within(said[-1].get("content"), depth + 1) if said else []
        if value and all(
            isinstance(item, dict) and item.get("type") in ("text", "output_text") for item in value
        ):
            return ["".join(item["text"] for item in value if isinstance(item.get("text"), str))]
        return [text for item in value for text in _within(item, depth + 1)]
    if isinstance(value, dict):
        key = next((key for key in _WITHIN if key in value), "")
        return _within(value[key], depth + 1) if key else []
    return []


def _whole(text: str, prompt: Any) -> str:
    """The answer; one that goes on in the middle of its prompt's function with that before it."""
    goes_on = next((line for line in text.split("\n") if line.strip()), "")[:1] in (" ", "\t")
    if len(text) > MOST_BYTES:
        raise Refused(f"holds more than {MOST_BYTES // 1_000_000} MB.")
    return prompt + text if goes_on and isinstance(prompt, str) else text
