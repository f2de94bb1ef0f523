"""Whether held-out text was held out: the texts, literals or indices of a split, where there are any."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from judge_tui.checks.lines import line_at, split_lines
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.corpora import literals, repeated, undivided
from judge_tui.checks.tasks.ternary_training.evaluations import swapped
from judge_tui.checks.tasks.ternary_training.figures import Name, Split, words
from judge_tui.checks.tasks.ternary_training.logs.documents import loaded_json
from judge_tui.checks.tasks.ternary_training.splitting.finding import mixed

__all__ = ["Overlap", "overlaps"]

_MOST_TEXT = 4 << 20
#: Characters of a passage that is looked for, and how many are.
_PASSAGE, _PASSAGES = 64, 120
#: Files of each part that are compared.
_MOST_PARTS = 4
_SPLITS = frozenset({
    "split", "splits", "idx", "idxs", "indices", "index", "indexes", "ids", "partition", "documents", "docs",
    "range", "ranges", "offsets", "span", "files", "shards",
})  # fmt: skip
_TEXTS = frozenset({".txt", ".text"})
#: What is no text to train on, whatever split its name speaks of.
_NO_DATA = _SPLITS | {
    "log",
    "logs",
    "output",
    "out",
    "result",
    "results",
    "report",
    "notes",
    "config",
    "stdout",
}
#: What the name of a literal says beside its split when it is a text of it, and no prompt or message.
_WORDS_OF_TEXT = frozenset({
    "text", "texts", "corpus", "data", "dataset", "set", "split", "sentences", "lines", "story", "stories",
    "passage", "passages", "string", "str", "raw", "content",
})  # fmt: skip
#: Fewer whole numbers than this are sizes or shapes, and two are the ends of a range.
_FEW = 5
_MOST_ITEMS = 2_000_000


@dataclass(frozen=True, slots=True)
class Overlap:
    """A held-out part against the part that was trained on.

    Attributes:
        held: What is held out (a file, or a key of one).
        trained: What was trained on.
        share: Share of what is held out that is in the training part as well.
        unit: ``passages``, ``entries`` (whole numbers), ``names`` (of files or documents), ``repetitions``
            (of a text that is cut in two), ``variables`` (one of which holds the other), ``evaluations``
            (of a figure that is named after held-out text), ``orders`` (two, of which one whole was cut) or
            ``likely orders`` (which look like two).
        example: One of them.
        file: Where the held-out part stands.
        line: 1-based.
    """

    held: str
    trained: str
    share: float
    unit: str
    example: str
    file: str
    line: int


def overlaps(submission: Submission, logs: Sequence[str]) -> list[Overlap]:
    """Every comparison that the submission's files allow; empty when they hold no split.

    Args:
        submission: What was submitted.
        logs: Files that are logs, and no text that was trained on.
    """
    texts = [name for name in submission.files if name not in logs]
    told = [*_texts(submission, texts), *_indices(submission, submission.files)]
    read = [*_orders(submission), *_evaluations(submission)]
    return [*(told or [*_parts(submission), *_repetitions(submission)]), *read]


def _orders(submission: Submission) -> Iterator[Overlap]:
    """Held-out parts that were cut out of another order of a whole than what is trained on."""
    for found in mixed(submission):
        unit = "orders" if found.certain else "likely orders"
        yield Overlap(found.held, found.trained, 1.0, unit, found.told, found.file, found.line)


def _evaluations(submission: Submission) -> Iterator[Overlap]:
    """Held-out figures that the source measures on the training text, and texts that it cuts from it."""
    for found in swapped(submission):
        unit = "variables" if found.cut else "evaluations"
        example = f"{found.name} is {'cut from' if found.cut else 'measured on'} {found.trained}"
        yield Overlap(found.name, found.trained, 1.0, unit, example, found.file, found.line)


def _parts(submission: Submission) -> Iterator[Overlap]:
    """Held-out variables that are a part of what is trained on, as the source has it."""
    for found in undivided(submission):
        whole, part = Name.of((found.whole,)), Name.of((found.part,))
        if (whole.split, part.split) == ("train", "held-out") and not whole.kind:
            example = f"{found.whole} is all of {found.of}"
            yield Overlap(found.part, found.whole, 1.0, "variables", example, found.file, found.line)


def _repetitions(submission: Submission) -> Iterator[Overlap]:
    """Texts of one passage again and again, cut in two: what is held out was trained on."""
    for text in repeated(submission):
        if not Name.of((text.name,)).split:
            held = f"the end of {text.name}, one passage {text.times} times,"
            yield Overlap(held, "its beginning", 1.0, "repetitions", text.passage, text.file, text.cut)


def _texts(submission: Submission, names: Sequence[str]) -> Iterator[Overlap]:
    parts: dict[Split, list[_Part]] = {"train": [], "held-out": []}
    for name in names:
        path = PurePosixPath(name)
        split = Name.of((str(path.parent), path.stem)).split
        if path.suffix.lower() in _TEXTS and split and not words(path.stem) & _NO_DATA:
            text = submission.read_bytes(name)[:_MOST_TEXT].decode("utf-8", "replace")
            parts[split].append(_Part(name, _spaced(text), name, 1))
    for file, name, line, text in literals(submission):
        spoken = words(name)
        if (split := Name.of((name,)).split) and (len(spoken) == 1 or spoken & _WORDS_OF_TEXT):
            parts[split].append(_Part(name, _spaced(text), file, line))
    for held in parts["held-out"][:_MOST_PARTS]:
        passages = _passages(held.text)
        for trained in parts["train"][:_MOST_PARTS]:
            if passages:
                shared = [passage for passage in passages if passage in trained.text]
                share, example = len(shared) / len(passages), shared[0] if shared else ""
                yield Overlap(held.name, trained.name, share, "passages", example, held.file, held.line)


@dataclass(frozen=True, slots=True)
class _Part:
    """A text of one split: a file, or a literal in a source file."""

    name: str
    text: str
    file: str
    line: int


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _passages(text: str) -> list[str]:
    """Passages at even distances, without those that are mostly blank or one word again and again."""
    if len(text) < 4 * _PASSAGE:
        return []
    starts = np.linspace(0, len(text) - _PASSAGE, min(_PASSAGES, len(text) // _PASSAGE)).astype(int)
    found = [text[start : start + _PASSAGE] for start in starts]
    return [passage for passage in found if len(set(passage.split())) > 4]


def _indices(submission: Submission, names: Sequence[str]) -> Iterator[Overlap]:
    parts: list[tuple[Split, str, str, int, frozenset[Any] | tuple[int, int]]] = []
    for name in names:
        for path, value, line in _lists(submission, name):
            split = Name.of(path).split
            if split and (items := _items(path, value)) is not None:
                parts.append((split, "/".join(path), name, line, items))
    for split, held, file, line, items in parts:
        for other, trained, *_place, theirs in parts:
            if (
                split == "held-out"
                and other == "train"
                and isinstance(items, tuple) == isinstance(theirs, tuple)
            ):
                share, example = _shared(items, theirs)
                # One file may be split within.
                named = isinstance(items, frozenset) and any(isinstance(item, str) for item in items)
                unit = "names" if named else "entries"
                yield Overlap(held, trained, share, unit, example, file, line)


def _lists(submission: Submission, name: str) -> Iterator[tuple[tuple[str, ...], Any, int]]:
    path = PurePosixPath(name)
    suffix = path.suffix.lower()
    if suffix == ".json":
        text = submission.read_bytes(name)[: 2 * _MOST_TEXT].decode("utf-8", "replace")
        for keys, value in _walked(loaded_json(text), (path.stem,), 0):
            at = text.find(f'"{keys[-1]}"')
            yield keys, value, line_at(text, max(at, 0))
    elif suffix in (".npy", ".npz"):
        for keys, array in _arrays(submission.read_bytes(name), path.stem):
            if array.ndim == 1 and array.dtype.kind in "iu" and array.size <= _MOST_ITEMS:
                yield keys, array.tolist(), 1
    elif suffix == ".txt" and words(path.stem) & _SPLITS:
        lines = split_lines(submission.read_text(name))
        yield (path.stem,), [line.strip() for line in lines if line.strip()], 1


def _arrays(data: bytes, stem: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    try:
        made = np.load(io.BytesIO(data), allow_pickle=False)
        if isinstance(made, np.ndarray):
            yield (stem,), made
        elif isinstance(made, np.lib.npyio.NpzFile):
            for key in made.files:
                yield (stem, key), made[key]
    except (ValueError, OSError, EOFError, KeyError, MemoryError, NotImplementedError):
        return


def _walked(value: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping) and depth < 8:
        for key, item in value.items():
            yield from _walked(item, (*path, str(key)), depth + 1)
    elif isinstance(value, list):
        yield path, value


def _items(path: Sequence[str], value: Any) -> frozenset[Any] | tuple[int, int] | None:
    """Entries of a split, or the two ends of a range; ``None`` for lists that are something else."""
    every = frozenset().union(*map(words, path))
    if not every & _SPLITS or not value or Name.of(path).kind:
        return None
    whole = all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    if whole and len(value) == 2 and value[0] < value[1]:
        return int(value[0]), int(value[1])
    if (whole and len(value) >= _FEW) or all(isinstance(item, str) for item in value):
        return frozenset(value[:_MOST_ITEMS])
    return None


def _shared(
    held: frozenset[Any] | tuple[int, int], trained: frozenset[Any] | tuple[int, int]
) -> tuple[float, str]:
    if isinstance(held, tuple) and isinstance(trained, tuple):
        low, high = max(held[0], trained[0]), min(held[1], trained[1])
        return max(0, high - low) / (held[1] - held[0]), f"{low} to {high}" if high > low else ""
    assert isinstance(held, frozenset)
    assert isinstance(trained, frozenset)
    both = held & trained
    return len(both) / len(held), str(min(both, key=str)) if both else ""
