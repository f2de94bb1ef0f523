"""The losses and perplexities that a submission's files record."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import PurePosixPath

from judge_tui.checks.lines import split_lines
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.figures import Figure
from judge_tui.checks.tasks.ternary_training.logs.documents import loaded_json, of_document
from judge_tui.checks.tasks.ternary_training.logs.texts import of_text

__all__ = ["figures"]

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".log", ".txt", ".out", ".md", ""})
#: Bytes of one file, and of all; files are untrusted, and larger ones are data.
_MOST_BYTES, _MOST_IN_ALL = 4 << 20, 24 << 20
_MOST_FIGURES = 20_000


def figures(submission: Submission) -> list[Figure]:
    """Every loss and perplexity that the submission's files record, file by file, in their order."""
    found: list[Figure] = []
    left = _MOST_IN_ALL
    for file in submission.files:
        if PurePosixPath(file).suffix.lower() in _SUFFIXES and left > 0:
            data = submission.read_bytes(file)[: min(_MOST_BYTES, left)]
            left -= len(data)
            found += itertools.islice(_of_file(file, data.decode("utf-8", "replace")), _MOST_FIGURES)
    return found


def _of_file(file: str, text: str) -> Iterator[Figure]:
    value = loaded_json(text) if text.lstrip()[:1] in ("{", "[") else None
    if value is not None:
        yield from of_document(file, text, value)
    else:
        yield from of_text(file, split_lines(text))
