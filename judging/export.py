"""The scoreboard in a README, between two markers; nothing else changes by a byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.judging import attempt_figures
from judge_tui.judging.attempts import attempts_on, passes_as_seen
from judge_tui.judging.card import CLEAN, Scorecard
from judge_tui.judging.folders import documents_in
from judge_tui.judging.matchup import Matchup
from judge_tui.judging.note import KINDS
from judge_tui.judging.placing import Placed, files_of, placed_notes
from judge_tui.judging.plain import plain
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.scoreboard import (
    Board,
    Cell,
    DimensionTable,
    Row,
    build_board,
    dimension_table,
    figure,
)
from judge_tui.judging.workspace import MATCHUPS, Workspace

__all__ = ["BEGIN", "END", "export_scoreboard", "scoreboard_markdown"]

BEGIN = "<!-- judge-tui:scoreboard -->"
END = "<!-- /judge-tui:scoreboard -->"

#: CommonMark's blocks of code: a fence is closed by one of its kind that is as long, or four blanks make one.
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_CLOSING = re.compile(rb" {0,3}(`{3,}|~{3,})\s*")
_INDENTED = re.compile(rb" {4}| {0,3}\t")
#: What would be read as Markdown or HTML → how it is written to be read as itself.
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {character: f"\\{character}" for character in "\\|`*_[]"}
)
_KIND_TITLES = {"strength": "Strengths", "weakness": "Weaknesses", "bug": "Bugs", "question": "Questions"}


def export_scoreboard(readme: bytes, workspace: Workspace) -> bytes:
    """The README with the present scoreboard between its markers.

    Line ends of the marker's line are used inside; everything outside stays as it is.

    Args:
        readme: Bytes of the file, in any encoding that keeps ASCII.
        workspace: Where the scorecards are.

    Raises:
        WorkspaceError: A marker is missing, stands twice, or they are in the wrong order.
    """
    start, end, newline = _between(readme)
    body = scoreboard_markdown(workspace).replace("\n", newline.decode())
    return readme[:start] + body.encode() + readme[end:]


def _between(readme: bytes) -> tuple[int, int, bytes]:
    begins, ends = _marker_lines(readme, BEGIN.encode()), _marker_lines(readme, END.encode())
    for marker, found in ((BEGIN, begins), (END, ends)):
        if len(found) != 1:
            raise _unmarked(readme, marker, [at for at, _ in found])
    (_, start), (end, _) = begins[0], ends[0]
    if end < start:
        raise WorkspaceError(f"the marker {END} stands before {BEGIN}.", hint="Swap the two lines.")
    return start, end, b"\r\n" if readme[:start].endswith(b"\r\n") else b"\n"


def _unmarked(readme: bytes, marker: str, found: Sequence[int]) -> WorkspaceError:
    """What is wrong where a marker does not stand once, with where it stands instead."""
    hint = f"Put {BEGIN} and {END} once each, on lines of their own."
    if readme.startswith((b"\xff\xfe", b"\xfe\xff")):
        return WorkspaceError("is UTF-16, where no marker can be found.", hint="Save it as UTF-8.")
    lines = [str(readme.count(b"\n", 0, at) + 1) for at in found]
    if lines:
        told = f"{', '.join(lines[:-1])} and {lines[-1]}"
        return WorkspaceError(
            f"the marker {marker} stands {len(found)} times, in the lines {told}.", hint=hint
        )
    if (at := readme.find(marker.encode())) >= 0:
        line = readme.count(b"\n", 0, at) + 1
        told = f"in line {line} it stands beside other text or in a block of code"
        return WorkspaceError(f"the marker {marker} is missing: {told}.", hint=hint)
    return WorkspaceError(f"the marker {marker} is missing.", hint=hint)


def _marker_lines(readme: bytes, marker: bytes) -> list[tuple[int, int]]:
    found, at, fence = [], 0, b""
    for line in _lines(readme):
        text = line.removeprefix(b"\xef\xbb\xbf") if at == 0 else line
        if fence:
            closing = _CLOSING.fullmatch(text)
            if closing and closing[1].startswith(fence):
                fence = b""
        elif opening := _FENCE.match(text):
            fence = opening[1]
        elif text.strip() == marker and not _INDENTED.match(text):
            found.append((at, at + len(line)))
        at += len(line)
    return found


def _lines(data: bytes) -> Iterable[bytes]:
    # bytes.splitlines would also split at a lone carriage return
    return (line + b"\n" for line in data.split(b"\n"))


def scoreboard_markdown(workspace: Workspace) -> str:
    """The scoreboard as Markdown, the same for the same scorecards on every day.

    Scores of files that are here and scores that were published for others stand in
    tables of their own, and so do those of people and of language models: they are no
    words on the same code, or of the same weight. Notes stand below the tables
    for the files that are here, since only there a reader finds their lines.

    Args:
        workspace: Where the scorecards are.

    Raises:
        JudgeError: A scorecard or rubric is malformed.
    """
    workspace = ReadOnce.of(workspace)
    parts: list[str] = []
    for (elsewhere, machine), head in _HEADS.items():
        board = build_board(
            workspace,
            lambda card, of=(elsewhere, machine): (card.scored_elsewhere, card.by_machine) == of,  # type: ignore[misc]
        )
        if board.rows:
            parts += [f"**{head}**"] if parts or machine else []
            parts += _of(workspace, board, elsewhere=elsewhere)
    return "\n" + "\n\n".join(parts or ["No submission is scored yet."]) + "\n\n"


#: (scored elsewhere, by a language model) → what stands above the board, where something stands before it.
_HEADS = {
    (False, False): "",
    (False, True): "Scored by language models",
    (True, False): "Scored elsewhere",
    (True, True): "Scored elsewhere, by language models",
}


def _of(workspace: Workspace, board: Board, *, elsewhere: bool) -> list[str]:
    told = [_provenance(workspace, board)] if elsewhere else _reconstructions(workspace, board)
    notes = [] if elsewhere else _notes(workspace, board)
    winners = _winners(workspace, board, elsewhere=elsewhere)
    return [
        *_board(workspace, board),
        *_attempts(workspace, board),
        *_marked(workspace, board),
        *winners,
        *told,
        *_dimensions(workspace, board),
        *notes,
    ]


def _attempts(workspace: Workspace, board: Board) -> list[str]:
    """Figures of models that have several attempts; whether they pass is told by the verdicts on the cards.

    What this machine alone has stored would make a board that another machine calls stale.
    """
    rows = attempt_figures.table(attempts_on(workspace, board, passes_as_seen(board.cards)))
    if not rows:
        return []
    head, *lines = ([_escaped(text) for text in row] for row in rows)
    kinds = [":---" if at < attempt_figures.NUMBERS else "---:" for at in range(len(head))]
    told = (
        f"Attempts, as their judges saw them: the cells above are about the first. {attempt_figures.CAPTION}"
    )
    return ["\n".join(map(_line, [head, kinds, *lines])), told]


def _marked(workspace: Workspace, board: Board) -> list[str]:
    """What judges call submissions as a whole, with the lines that show it, and who says so."""
    lines = []
    for row in board.all_rows:
        for task in board.tasks:
            for card in board.on(task, row.model):
                if card.verdict is None or card.verdict.kind == CLEAN:
                    continue
                note = card.verdict_note
                placed = placed_notes(card, workspace.submission(row.model, task))[note.id] if note else None
                why = f": {_escaped(note.text)}" if note and note.text.strip() else ""
                where = f" ({_escaped(placed.where)})" if placed and placed.where else ""
                who = f", says {_escaped(card.judge)}"
                told = f"{_escaped(row.title)}, {_escaped(task)}: {card.verdict.kind}{who}{why}{where}"
                lines.append(f"- ⚑ {told}")
    return ["\n".join(lines)] if lines else []


def _winners(workspace: Workspace, board: Board, *, elsewhere: bool) -> list[str]:
    """Who won each task as the board's judges say, by how much and why; of several that of most models."""
    titles = {row.model: row.title for row in board.all_rows}
    lines = []
    for task, title in board.tasks.items():
        decided = list(_decided(workspace, board, task, elsewhere=elsewhere))
        if not decided:
            continue
        one = max(decided, key=lambda each: (len(each.models), each.margin is not None))
        others = {str(each.winner) for each in decided if set(each.models) == set(one.models)} - {one.winner}
        won = f"**{_escaped(titles.get(str(one.winner), str(one.winner)))}**"
        by = f" +{one.margin}" if one.margin else ""
        digests = {model: workspace.submission(model, task).digest for model in one.submissions}
        stale = " †" if one.stale(digests) else ""
        also = "".join(f", or {_escaped(titles.get(other, other))}" for other in sorted(others))
        among = ", ".join(_escaped(titles.get(model, model)) for model in one.models)
        lines.append(
            _line([_escaped(title), f"{won}{by}{stale}{also}", among, _escaped(one.key_differentiator)])
        )
    if not lines:
        return []
    head = [_line(["Task", "Winner", "Among", "Key differentiator"]), _line([":---"] * 4)]
    return ["\n".join([*head, *lines])]


def _decided(workspace: Workspace, board: Board, task: str, *, elsewhere: bool) -> Iterable[Matchup]:
    """The comparisons in which a judge of the board has named a winner, with the names revealed."""
    sealed = {(card.judge, card.model) for card in board.sealed if card.task == task}
    for path in documents_in(workspace.root / "scores" / task / MATCHUPS):
        if path.stem not in board.judges:
            continue
        # what is malformed is told by who publishes, and costs its winners alone
        with suppress(JudgeError):
            for one in workspace.matchups(task, path.stem).matchups:
                covered = any((path.stem, model) in sealed for model in one.models)
                if one.decided and bool(one.source) == elsewhere and not covered:
                    yield one


def _is_elsewhere(card: Scorecard) -> bool:
    return card.scored_elsewhere


def _board(workspace: Workspace, board: Board) -> list[str]:
    # ids, not titles: eight titles side by side are wider than any page
    head = ["Model", *(_escaped(task) for task in board.tasks), "Mean"]
    lines = [_line(head), _line([":---", *["---:"] * (len(head) - 1)])]
    lines += [
        _line([_escaped(row.title), *(_cell(row, task) for task in board.tasks), _mean(row)])
        for row in board.rows
    ]
    return ["\n".join(lines), _legend(board)]


def _cell(row: Row, task: str) -> str:
    cell = row.cells.get(task)
    if cell is None:
        return "–"
    shown = [figure(cell.points, cell.counted)] if cell.points is not None else []
    shown += ["/".join(_escaped(letter) for letter in cell.letters)] if cell.letters else []
    shown = shown or [_progress(cell)]
    marks = (" †" if cell.stale else "") + (" ‡" if cell.unblinded else "")
    return " ".join(shown) + marks + "".join(f" ⚑ {verdict}" for verdict in cell.verdicts)


def _progress(cell: Cell) -> str:
    return f"{cell.scored} of {cell.dimensions}" if cell.scored else "–"


def _mean(row: Row) -> str:
    return "–" if row.mean is None else f"**{figure(row.mean)}** ({row.counted})"


def _legend(board: Board) -> str:
    judges = ", ".join(_escaped(judge) for judge in board.judges)
    tasks = "; ".join(f"{_escaped(task)}: {_escaped(title)}" for task, title in board.tasks.items())
    said = [f"Tasks – {tasks}."] if tasks else []
    who = "Language model" if board.cards and board.cards[0].by_machine else "Judge"
    said += [f"{who}{'' if len(board.judges) == 1 else 's'}: {judges}."]
    if board.newest:
        said.append(f"Newest scorecard: {_escaped(board.newest)}.")
    cells = [cell for row in board.rows for cell in row.cells.values()]
    if any(cell.points is not None for cell in cells):
        said.append("Points are 0–100; Mean is over the tasks with points, their number in brackets.")
    if any(cell.counted > 1 for cell in cells):
        said.append("A cell with several judges' points is their mean, with their number in brackets.")
    if any(cell.letters for cell in cells) and not all(map(_is_elsewhere, board.cards)):
        said.append("Letters are the judge's own, else what the points earn.")
    if any(cell.points is None and not cell.letters and cell.scored for cell in cells):
        said.append("“n of m” counts the dimensions scored so far.")
    if any(cell.stale for row in board.all_rows for cell in row.cells.values()):
        said.append("† The files have changed since they were scored.")
    if any(cell.unblinded for cell in cells):
        said.append("‡ Scored blind, and changed after the names were revealed.")
    return " ".join(said)


def _provenance(workspace: Workspace, board: Board) -> str:
    said = "Scored elsewhere: these scores were published for the models' original submissions"
    if any(_is_reconstruction(workspace, row, task) for row in board.all_rows for task in row.cells):
        return f"{said}; the submissions in this repository are reconstructions, not the models' code."
    return f"{said}, not for the files in this repository."


def _reconstructions(workspace: Workspace, board: Board) -> list[str]:
    """Which of the files that were scored are not what a model wrote."""
    found = [
        (
            row,
            [task for task in board.tasks if task in row.cells and _is_reconstruction(workspace, row, task)],
        )
        for row in board.all_rows
    ]
    if not any(tasks for _, tasks in found):
        return []
    if all(len(tasks) == len(row.cells) for row, tasks in found):
        return ["The submissions scored here are reconstructions, not the models' code."]
    told = "; ".join(
        f"{_escaped(row.title)} ({', '.join(map(_escaped, tasks))})" for row, tasks in found if tasks
    )
    return [f"Reconstructions, not the models' code: {told}."]


def _is_reconstruction(workspace: Workspace, row: Row, task: str) -> bool:
    return workspace.submission(row.model, task).meta.origin == "reconstruction"


def _dimensions(workspace: Workspace, board: Board) -> list[str]:
    tables = [dimension_table(board, task, workspace.rubric(task)) for task in board.tasks]
    titles = {row.model: row.title for row in board.rows}
    return [_details(table, titles) for table in tables if table is not None]


def _details(table: DimensionTable, titles: dict[str, str]) -> str:
    head = ["Dimension", *(_escaped(titles[model]) for model in table.models)]
    lines = [_line(head), _line([":---", *["---:"] * (len(head) - 1)])]
    for title, cells in table.rows:
        shown = [figure(*cells[model]) if model in cells else "–" for model in table.models]
        lines.append(_line([_escaped(title), *shown]))
    rows = "\n".join(lines)
    return f"<details><summary>{_escaped(table.title)}, by dimension</summary>\n\n{rows}\n\n</details>"


def _notes(workspace: Workspace, board: Board) -> list[str]:
    """What the judges noted, per task and model, best model first; where that stands now goes along."""
    sections = []
    for task, title in board.tasks.items():
        said = []
        for row in board.all_rows:
            cards = board.on(task, row.model)
            if not any(card.notes for card in cards):
                continue
            submission = workspace.submission(row.model, task)
            files = files_of(submission)
            where = [placed_notes(card, submission, files) for card in cards]
            for kind in KINDS:
                notes = [
                    _note(placed[note.id], card.judge if len(board.judges) > 1 else "")
                    for card, placed in zip(cards, where, strict=True)
                    for note in card.notes
                    if note.kind == kind and note.text.strip()
                ]
                if notes:
                    said += [f"**{_escaped(row.title)}, {_KIND_TITLES[kind].lower()}**", "\n".join(notes)]
        if said:
            body = "\n\n".join(said)
            sections.append(f"<details><summary>{_escaped(title)}, notes</summary>\n\n{body}\n\n</details>")
    return sections


def _note(placed: Placed, judge: str) -> str:
    note = placed.note
    weight = note.weight if note.weight != "minor" else ""
    aside = ", ".join(_escaped(part) for part in (weight, placed.where, judge) if part)
    return f"- {_escaped(note.text)}" + (f" ({aside})" if aside else "")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return plain(text.replace("\n", " ")).translate(_ESCAPES).strip() or "–"
