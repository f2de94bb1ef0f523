"""What a language model answered to packets, as records that ``import-scores`` takes in.

Answers of one judge to packets with the same submissions are one word: scores are their mean, and a winner
that flips with the order is a tie.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.lines import split_lines
from judge_tui.checks.submission import Submission
from judge_tui.judging.card import MACHINE
from judge_tui.judging.document import Table
from judge_tui.judging.exchange.records import SCORECARD, card_of, card_record
from judge_tui.judging.matchup import TIE
from judge_tui.judging.note import KINDS, SEVERITIES, quote_of
from judge_tui.judging.packets.keys import Key
from judge_tui.judging.rubric import half_up
from judge_tui.judging.workspace import Workspace

__all__ = ["Answer", "answered", "records_of"]


_MOMENTS = ("created", "updated")
_KEYS = ("packet", "judge", "submissions", "winner", "margin", "key_differentiator")
_SUBMISSION_KEYS = ("dimensions", "overall", "summary", "notes")
_ENTRY_KEYS = ("score", "comment")
_NOTE_KEYS = ("kind", "severity", "text", "file", "lines")


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
    _nothing_else(table, _KEYS, "an answer")
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
        _read(submissions.table(letter), letter, key.dimensions)
    return Answer(line, raw, key, judge or table.string("judge"))


def _nothing_else(table: Table, known: Sequence[str], what: str) -> None:
    """Refuse what would be lost."""
    for name in table.raw:
        if name not in known:
            raise table.fault(
                f"'{name:.40}' is nothing that {what} has", hint=f"There are: {', '.join(known)}."
            )


def _read(table: Table, letter: str, known: Sequence[str]) -> None:
    """Refuse what is no answer on a submission."""
    _nothing_else(table, _SUBMISSION_KEYS, letter)
    dimensions = table.table("dimensions")
    for name in dimensions.raw:
        if known and name not in known:
            raise table.fault(
                f"{letter} has scores for '{name:.40}', which is no dimension of the packet",
                hint=f"There are: {', '.join(known)}.",
            )
        entry = dimensions.table(name)
        _nothing_else(entry, _ENTRY_KEYS, f"'{name}' of {letter}")
        if entry.points("score") is None:
            raise entry.fault(f"'{name}' of {letter} has no score: leave it out where none can be given")
        entry.string("comment", "")
    table.points("overall")
    table.string("summary", "")
    for number, note in enumerate(table.tables("notes"), 1):
        _nothing_else(note, _NOTE_KEYS, f"note {number} on {letter}")
        if note.string("kind") not in KINDS or note.string("severity", "minor") not in SEVERITIES:
            raise note.fault(f"a note is one of {', '.join(KINDS)}, and {', '.join(SEVERITIES)}")
        note.string("text")
        note.optional_string("file")
        if "lines" in note.raw and not _are_lines(note.raw["lines"]):
            raise note.fault(
                f"'lines' of note {number} on {letter} must be the first and the last, from 1 on"
            )


def _are_lines(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int and n > 0 for n in value)


def records_of(
    workspace: Workspace,
    answers: Sequence[Answer],
    received: datetime,
    present: Callable[[str, str], Any],
    remarks: list[str],
) -> list[tuple[int, dict[str, Any]]]:
    """Answers as records: a scorecard for each submission, and the judge's matchups with these among them.

    Args:
        workspace: Where the submissions are.
        answers: All of them.
        received: When.
        present: Task and judge → the record of that judge's matchups as they are.
        remarks: Takes what is taken in another way than it was said.
    """
    together: defaultdict[tuple[str, str, tuple[str, ...]], list[Answer]] = defaultdict(list)
    for answer in answers:
        models = tuple(sorted(seat.model for seat in answer.key.seats.values()))
        together[answer.key.task, answer.judge, models].append(answer)
    found: list[tuple[int, dict[str, Any]]] = []
    files: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}
    for (task, judge, models), group in together.items():
        line = group[0].line
        for model in models:
            card = _card(workspace, task, judge, model, group, received, remarks)
            found.append((line, _as_it_was(workspace, card)))
        _, record = files.setdefault((task, judge), (line, present(task, judge)))
        record["matchups"] = [
            *(one for one in record["matchups"] if sorted(one["models"]) != list(models)),
            _matchup(group),
        ]
    return [*found, *files.values()]


def _card(
    workspace: Workspace,
    task: str,
    judge: str,
    model: str,
    group: Sequence[Answer],
    received: datetime,
    remarks: list[str],
) -> dict[str, Any]:
    said = [(answer, _letter(answer, model)) for answer in group]
    own = [answer.raw["submissions"][letter] for answer, letter in said]
    seat = said[0][0].key.seats[said[0][1]]
    names = list(dict.fromkeys(name for one in own for name in one["dimensions"]))
    totals = [one["overall"] for one in own if one.get("overall") is not None]
    digest, rubric = said[0][0].key.rubric, workspace.rubric(task)
    version = {"version": rubric.version} if rubric.digest == digest else {}
    record: dict[str, Any] = {
        "record": SCORECARD, "task": task, "model": model, "judge": judge, "judge_kind": MACHINE,
        "submission": seat.digest, "created": received.isoformat(), "updated": received.isoformat(),
        "rubric": {"id": task, **version, "digest": digest},
        "provenance": {
            "source": judge, "prompt": ", ".join(answer.key.id for answer, _ in said),
            "order": [_order(answer) for answer, _ in said], "received": received.isoformat(),
        },
        "dimensions": {
            name: _dimension([one["dimensions"][name] for one in own if name in one["dimensions"]])
            for name in names
        },
        "notes": [
            note for answer, letter in said for note in _notes(workspace, task, answer, letter, remarks)
        ],
    }  # fmt: skip
    if totals:
        record["overall"] = half_up(sum(totals) / len(totals))
    summaries = dict.fromkeys(text for one in own if (text := one.get("summary", "").strip()))
    if summaries:
        record["summary"] = "\n\n".join(summaries)
    return record


def _as_it_was(workspace: Workspace, record: dict[str, Any]) -> dict[str, Any]:
    """A card with the moments of the one that is there, where that says the same otherwise."""
    with suppress(JudgeError):
        there, _ = workspace.scorecard(record["task"], record["model"], record["judge"])
        told = card_record(there)
        moments = {key: told[key] for key in _MOMENTS if key in told}
        origin = record["provenance"] | {"received": told.get("provenance", {}).get("received")}
        same = record | moments | {"provenance": origin}
        if card_record(card_of(same, Path())) == told:
            return same
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


def _notes(
    workspace: Workspace, task: str, answer: Answer, letter: str, remarks: list[str]
) -> Iterator[dict[str, Any]]:
    """The notes on a submission, each on the file that it means and with its quote."""
    seat = answer.key.seats[letter]
    submission = workspace.submission(seat.model, task)
    for number, raw in enumerate(answer.raw["submissions"][letter].get("notes", ()), 1):
        note = {key: raw[key] for key in ("kind", "severity", "text", "file") if raw.get(key)}
        name, lines = note.get("file"), raw.get("lines")
        if name is not None:
            note["file"] = seat.files.get(name.removeprefix(f"{letter}: "), name)
        if lines is not None:
            found = {} if name is None else _lines(submission, note["file"], lines, seat.digest)
            if not found:
                said = f"lines {lines[0]}–{lines[1]}" if lines[0] != lines[1] else f"line {lines[0]}"
                note["text"] = f"{raw['text']} ({said})"
                where = f"'{name}' has not" if name is not None else "are of no file"
                place = f"{answer.line}: note {number} on {letter}"
                remarks.append(f"{place} is about {said}, which {where}: they stand in its text.")
            note |= found
        yield note


def _lines(submission: Submission, file: str, lines: Sequence[int], seen: str) -> dict[str, Any]:
    """Lines of a file that are there, with their quote where the files are still those that were seen."""
    first, last = min(lines), max(lines)
    if submission.digest != seen:
        return {"lines": [first, last]}
    text: list[str] = []
    with suppress(JudgeError):
        text = split_lines(submission.read_text(file)) if file in submission.files else []
    last = min(len(text), last)
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
