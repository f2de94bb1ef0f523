"""What a language model answered to packets, as records that ``import-scores`` takes in.

Answers of one judge to packets with the same submissions are one word: scores are their mean, and a winner
that flips with the order is a tie.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.checks.lines import split_lines
from judge_tui.checks.submission import Submission
from judge_tui.judging.card import MACHINE
from judge_tui.judging.document import Table
from judge_tui.judging.exchange.records import SCORECARD
from judge_tui.judging.matchup import TIE
from judge_tui.judging.note import KINDS, SEVERITIES, quote_of
from judge_tui.judging.packets.packet import Key, Seat
from judge_tui.judging.rubric import half_up
from judge_tui.judging.workspace import Workspace

__all__ = ["Answer", "answered", "answers_in", "keys_in", "records_of"]


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n```", re.S)
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with the packet that it is to.

    Attributes:
        line: Where it stands in its file.
        raw: What it says.
        key: Of its packet.
        judge: Who answered.
    """

    line: int
    raw: Mapping[str, Any]
    key: Key
    judge: str


def keys_in(raw: object, file: Path) -> dict[str, Key]:
    """The keys that a key file holds, by packet.

    Raises:
        WorkspaceError: It is none.
    """
    try:
        assert isinstance(raw, dict)
        return {one["packet"]: _key(one) for one in raw["packets"]}
    except (AssertionError, KeyError, TypeError, AttributeError):
        raise WorkspaceError(
            "is no key of a packet.", hint="judge-tui packet writes it.", file=file
        ) from None


def _key(raw: Mapping[str, Any]) -> Key:
    seats = {
        letter: Seat(seat["model"], seat["digest"], dict(seat["files"]))
        for letter, seat in raw["seats"].items()
    }
    return Key(raw["packet"], raw["task"], seats, raw["rubric"])


def answers_in(text: str, file: Path) -> list[tuple[int, dict[str, Any]]]:
    """The answers in a text, as a model may write them: one object, several, or one in a fence.

    Raises:
        WorkspaceError: There is none; with the line.
    """
    fenced = _FENCED.search(text)
    body, above = (fenced[1], text[: fenced.start(1)].count("\n")) if fenced else (text, 0)
    found: list[tuple[int, dict[str, Any]]] = []
    decoder, at = json.JSONDecoder(), 0
    while (start := _SPACE.match(body, at).end()) < len(body):  # type: ignore[union-attr]
        line = above + body[:start].count("\n") + 1
        try:
            value, at = decoder.raw_decode(body, start)
        except json.JSONDecodeError as error:
            raise WorkspaceError(f"is no JSON: {error.msg}.", file=file, line=above + error.lineno) from error
        except (RecursionError, ValueError) as error:
            raise WorkspaceError("is no JSON that can be read.", file=file, line=line) from error
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(one, dict) for one in values):
            raise WorkspaceError("is no object.", file=file, line=line)
        found += [(line, one) for one in values]
    return found


def answered(line: int, raw: Mapping[str, Any], keys: Mapping[str, Key], judge: str, file: Path) -> Answer:
    """An answer, read against its packet.

    Args:
        line: Where it stands.
        raw: What it says.
        keys: Packet → key.
        judge: The judge's name, where the answer's own is not to count.
        file: Where it is from, for messages.

    Raises:
        WorkspaceError: It is to another packet, or is not what its schema says.
    """
    table = Table(raw, file, "")
    packet = table.string("packet")
    if packet not in keys:
        raise table.fault(
            f"answers packet {packet:.40}, of which no key is here", hint="Name its key: --key FILE"
        )
    key = keys[packet]
    winner = table.string("winner")
    if winner not in (*key.seats, TIE):
        raise table.fault(f"'winner' must be {', '.join(key.seats)} or {TIE}, not '{winner:.40}'")
    table.points("margin")
    table.string("key_differentiator")
    submissions = table.table("submissions")
    if set(submissions.raw) != set(key.seats):
        raise table.fault(f"'submissions' must be {', '.join(key.seats)}")
    for letter in key.seats:
        _read(submissions.table(letter))
    return Answer(line, raw, key, judge or table.string("judge"))


def _read(table: Table) -> None:
    """Refuse what is no answer on a submission."""
    dimensions = table.table("dimensions")
    for name in dimensions.raw:
        entry = dimensions.table(name)
        if entry.points("score") is None:
            raise entry.fault(f"'{name}' has no score: leave it out where none can be given")
        entry.string("comment", "")
    table.points("overall")
    table.string("summary", "")
    for note in table.tables("notes"):
        if note.string("kind") not in KINDS or note.string("severity", "minor") not in SEVERITIES:
            raise note.fault(f"a note is one of {', '.join(KINDS)}, and {', '.join(SEVERITIES)}")
        note.string("text")
        note.optional_string("file")


def records_of(
    workspace: Workspace, answers: Sequence[Answer], received: datetime, present: Callable[[str, str], Any]
) -> list[tuple[int, dict[str, Any]]]:
    """Answers as records: a scorecard for each submission, and the judge's matchups with these among them.

    Args:
        workspace: Where the submissions are.
        answers: All of them.
        received: When.
        present: Task and judge → the record of that judge's matchups as they are.
    """
    together: defaultdict[tuple[str, str, tuple[str, ...]], list[Answer]] = defaultdict(list)
    for answer in answers:
        models = tuple(sorted(seat.model for seat in answer.key.seats.values()))
        together[answer.key.task, answer.judge, models].append(answer)
    found: list[tuple[int, dict[str, Any]]] = []
    files: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}
    for (task, judge, models), group in together.items():
        line = group[0].line
        found += [(line, _card(workspace, task, judge, model, group, received)) for model in models]
        _, record = files.setdefault((task, judge), (line, present(task, judge)))
        record["matchups"] = [
            *(one for one in record["matchups"] if sorted(one["models"]) != list(models)),
            _matchup(group),
        ]
    return [*found, *files.values()]


def _card(
    workspace: Workspace, task: str, judge: str, model: str, group: Sequence[Answer], received: datetime
) -> dict[str, Any]:
    said = [(answer, _letter(answer, model)) for answer in group]
    own = [answer.raw["submissions"][letter] for answer, letter in said]
    seat = said[0][0].key.seats[said[0][1]]
    names = list(dict.fromkeys(name for one in own for name in one["dimensions"]))
    totals = [one["overall"] for one in own if one.get("overall") is not None]
    rubric = workspace.rubric(task)
    record: dict[str, Any] = {
        "record": SCORECARD, "task": task, "model": model, "judge": judge, "judge_kind": MACHINE,
        "submission": seat.digest, "created": received.isoformat(), "updated": received.isoformat(),
        "rubric": {"id": task, "version": rubric.version, "digest": said[0][0].key.rubric},
        "provenance": {
            "source": judge, "prompt": ", ".join(answer.key.id for answer, _ in said),
            "order": [_order(answer) for answer, _ in said], "received": received.isoformat(),
        },
        "dimensions": {
            name: _dimension([one["dimensions"][name] for one in own if name in one["dimensions"]])
            for name in names
        },
        "notes": [
            note for answer, letter in said for note in _notes(workspace, task, answer, letter)
        ],
    }  # fmt: skip
    if totals:
        record["overall"] = half_up(sum(totals) / len(totals))
    summaries = dict.fromkeys(text for one in own if (text := one.get("summary", "").strip()))
    if summaries:
        record["summary"] = "\n\n".join(summaries)
    return record


def _letter(answer: Answer, model: str) -> str:
    return next(letter for letter, seat in answer.key.seats.items() if seat.model == model)


def _order(answer: Answer) -> str:
    """The models in the order that they were seen in."""
    return ", ".join(seat.model for seat in answer.key.seats.values())


def _dimension(given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    scores = [one["score"] for one in given]
    comments = dict.fromkeys(text for one in given if (text := one.get("comment", "").strip()))
    mean = half_up(sum(scores) / len(scores))
    told = f"Seen in both orders: {', '.join(map(str, scores))}." if len(set(scores)) > 1 else ""
    comment = "\n\n".join(filter(None, (*comments, told)))
    return {"score": mean} | ({"comment": comment} if comment else {})


def _notes(workspace: Workspace, task: str, answer: Answer, letter: str) -> list[dict[str, Any]]:
    """The notes on a submission, each on the file that it means and with its quote."""
    seat = answer.key.seats[letter]
    submission = workspace.submission(seat.model, task)
    found: list[dict[str, Any]] = []
    for raw in answer.raw["submissions"][letter].get("notes", ()):
        note = {key: raw[key] for key in ("kind", "severity", "text", "file", "lines") if raw.get(key)}
        name = note.get("file")
        if name is not None:
            note["file"] = seat.files.get(name.removeprefix(f"{letter}: "), name)
        if (lines := note.pop("lines", None)) is not None and name is not None:
            note |= _lines(submission, note["file"], lines)
        found.append(note)
    return found


def _lines(submission: Submission, file: str, lines: object) -> dict[str, Any]:
    """Lines of a file that are there, with their quote."""
    text: list[str] = []
    with suppress(JudgeError):
        text = split_lines(submission.read_text(file)) if file in submission.files else []
    if not isinstance(lines, list) or len(lines) != 2 or not all(type(n) is int for n in lines):
        return {}
    first, last = max(1, min(lines)), min(len(text), max(lines))
    return {"lines": [first, last], "quote": quote_of(text, (first, last))} if first <= last else {}


def _matchup(group: Sequence[Answer]) -> dict[str, Any]:
    """Who is better; a tie where that flips with the order."""
    first = group[0]
    winners = {_winner(answer) for answer in group}
    margins = [answer.raw["margin"] for answer in group if answer.raw.get("margin") is not None]
    models = [seat.model for seat in first.key.seats.values()]
    made: dict[str, Any] = {"models": models}
    if len(winners) == 1:
        made["winner"] = winners.pop()
        if margins and made["winner"] != TIE:
            made["margin"] = half_up(sum(margins) / len(margins))
        made["key_differentiator"] = str(first.raw["key_differentiator"]).strip()
    else:
        said = ", ".join(f"{_order(answer)}: {_winner(answer)}" for answer in group)
        made |= {"winner": TIE, "key_differentiator": f"Flips with the order that they are seen in ({said})."}
    digests = {seat.model: seat.digest for seat in first.key.seats.values()}
    return {key: value for key, value in (made | {"submissions": digests}).items() if value != ""}


def _winner(answer: Answer) -> str:
    winner = answer.raw["winner"]
    return winner if winner == TIE else answer.key.seats[winner].model
