"""The JSON Schema of the answer to a packet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge_tui.judging.matchup import TIE
from judge_tui.judging.note import KINDS, SEVERITIES

__all__ = ["answer_schema"]

_POINTS = {"type": "integer", "minimum": 0, "maximum": 100}
_TEXT = {"type": "string"}


def answer_schema(packet: str, letters: Sequence[str], dimensions: Sequence[str]) -> dict[str, Any]:
    """What an answer to a packet has to be.

    Args:
        packet: Its id.
        letters: Of the submissions.
        dimensions: Ids of the rubric's.
    """
    note = _object(
        {
            "kind": {"enum": list(KINDS)},
            "severity": {"enum": list(SEVERITIES)},
            "text": _TEXT,
            "file": _TEXT,
            "lines": {
                "type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2,
            },
        },
        ("kind", "text"),
    )  # fmt: skip
    score = _object({"score": _POINTS, "comment": _TEXT}, ("score", "comment"))
    submission = _object(
        {
            "dimensions": _object(dict.fromkeys(dimensions, score), ()),
            "overall": _POINTS,
            "summary": _TEXT,
            "notes": {"type": "array", "items": note},
        },
        ("dimensions", "summary", "notes"),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_object(
            {
                "packet": {"const": packet},
                "judge": {"type": "string", "description": "Name and version of the model that judges."},
                "submissions": _object(dict.fromkeys(letters, submission), letters),
                "winner": {"enum": [*letters, TIE]},
                "margin": {**_POINTS, "description": "Points between the winner and the next."},
                "key_differentiator": _TEXT,
            },
            ("packet", "judge", "submissions", "winner", "key_differentiator"),
        ),
    }


def _object(properties: dict[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(required), "additionalProperties": False,
    }  # fmt: skip
