"""The parts that a report is made of, in the order in which a reader meets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judge_tui.judging.matchup import TIE

__all__ = [
    "Bullet",
    "Cell",
    "Code",
    "Criteria",
    "Heading",
    "Line",
    "Notes",
    "Part",
    "Prose",
    "Report",
    "Table",
]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading.

    Attributes:
        text: What it says.
        level: 2 for a task, 3 for what stands below one; the report's own title is 1.
        anchor: What a link to it ends in.
    """

    text: str
    level: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph.

    Attributes:
        text: Plain text.
        judge: Whose words they are; empty where they are this program's.
    """

    text: str
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: What stands in it.
        anchor: Where in the report more of it stands; empty where nothing does.
        strong: Whether it is ahead.
    """

    text: str
    anchor: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        head: Titles of the columns.
        rows: As many cells each.
        numbers: Columns whose cells are figures, by their place.
        caption: What a reader has to know to read it.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: frozenset[int] = frozenset()
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A criterion of a comparison.

    Attributes:
        name: What is compared.
        cells: One per model, in their order.
        edge: The title of who is ahead, ``"tie"``, or empty where nobody has said.
        note: What was added to the edge.
        basis: What it was taken from: a check, or scores.
    """

    name: str
    cells: tuple[str, ...]
    edge: str = ""
    note: str = ""
    basis: str = ""


@dataclass(frozen=True, slots=True)
class Criteria:
    """A comparison of submissions, criterion by criterion.

    Attributes:
        models: Titles, in the order of the columns.
        lines: The criteria.
        winner: Title of the winner, ``"tie"``, another word of the judge, or empty.
        margin: Points between the winner and the next; ``None`` where nobody has said.
        differentiator: What decided.
        judge: Who compared.
        source: Where it was published.
        edges: How many criteria each title, and ``"tie"``, has.
    """

    models: tuple[str, ...]
    lines: tuple[Line, ...]
    winner: str = ""
    margin: int | None = None
    differentiator: str = ""
    judge: str = ""
    source: str = ""
    edges: Mapping[str, int] = field(init=False, hash=False)

    def __post_init__(self) -> None:
        names = (*self.models, TIE)
        object.__setattr__(
            self, "edges", {name: sum(line.edge == name for line in self.lines) for name in names}
        )


@dataclass(frozen=True, slots=True)
class Bullet:
    """A note of a judge.

    Attributes:
        text: What it says.
        kind: ``strength``, ``weakness``, ``bug`` or ``question``.
        severity: As the judge has it.
        where: File and lines as they are now, with what is to be known of them.
        judge: Who wrote it.
        anchor: Where in the report its lines stand; empty where they do not.
    """

    text: str
    kind: str
    severity: str = ""
    where: str = ""
    judge: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes of one kind on one submission.

    Attributes:
        title: Of the model.
        kind: Of the notes, or ``critical``.
        bullets: They.
    """

    title: str
    kind: str
    bullets: tuple[Bullet, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of a submission.

    Attributes:
        title: Of the model.
        file: Relative path.
        first: 1-based number of the first line.
        lines: The lines, without their ends.
        marked: Numbers of those that a note is about.
        anchor: What a link to it ends in.
    """

    title: str
    file: str
    first: int
    lines: tuple[str, ...]
    marked: frozenset[int]
    anchor: str


Part = Heading | Prose | Table | Criteria | Notes | Code


@dataclass(frozen=True, slots=True)
class Report:
    """A summary that can be published.

    Attributes:
        shape: ``two-way``, ``head-to-head``, ``round``, ``combined``, ``metrics`` or ``standings``.
        title: Its title.
        models: Folder name → title, in the order of the columns.
        tasks: Task id → title.
        judges: Whose words are in it.
        newest: Day of the newest scorecard, ``YYYY-MM-DD``; empty when none says.
        parts: In their order.
        faults: What could not be read, and is missing for that.
    """

    shape: str
    title: str
    models: Mapping[str, str]
    tasks: Mapping[str, str]
    judges: tuple[str, ...]
    newest: str
    parts: tuple[Part, ...]
    faults: tuple[str, ...] = ()
