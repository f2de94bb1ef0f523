"""The parts that a report is made of, in the order in which a reader meets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judge_tui.judging.matchup import TIE

__all__ = [
    "PLOTS",
    "Axis",
    "Bars",
    "Bullet",
    "Cell",
    "Code",
    "Criteria",
    "Curves",
    "Group",
    "Heading",
    "Interval",
    "Intervals",
    "Line",
    "Matrix",
    "Notes",
    "Part",
    "Plot",
    "Prose",
    "Report",
    "Table",
    "Trace",
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
        own: What a link to this cell ends in; empty where none leads here.
    """

    text: str
    anchor: str = ""
    strong: bool = False
    own: str = ""


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
        anchors: Per model where in the report stands what was said of its submission; may be empty.
        stale: Whether the winner was decided on other files than those that are there now.
        edges: How many criteria each title, and ``"tie"``, has.
    """

    models: tuple[str, ...]
    lines: tuple[Line, ...]
    winner: str = ""
    margin: int | None = None
    differentiator: str = ""
    judge: str = ""
    source: str = ""
    anchors: tuple[str, ...] = ()
    stale: bool = False
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
        opening: How the text or comment that the first line stands in was opened; empty for none.
    """

    title: str
    file: str
    first: int
    lines: tuple[str, ...]
    marked: frozenset[int]
    anchor: str
    opening: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """What a plot measures along one direction.

    Attributes:
        title: Of the quantity.
        unit: Its unit, or what it is out of; empty for a plain number.
        low: Where it begins; ``None`` where the figures say so.
        high: Where it ends; likewise.
        log: Whether equal steps are equal ratios.
    """

    title: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False

    @property
    def said(self) -> str:
        """Quantity and unit for a reader."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that stand beside each other.

    Attributes:
        name: What they measure.
        values: One per name of the plot; ``None`` where there is none.
    """

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """A plot of groups of bars.

    Attributes:
        title: What it shows.
        anchor: What a link to it ends in, and what its file is called.
        axis: What the bars measure.
        names: What each bar of a group is of.
        groups: They, in their order.
        caption: What a reader has to know to read it.
    """

    title: str
    anchor: str
    axis: Axis
    names: tuple[str, ...]
    groups: tuple[Group, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with the ends of its interval.

    Attributes:
        name: Whose it is.
        value: The figure.
        low: The lower end.
        high: The upper end.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Intervals:
    """A plot of figures with their intervals around a line at zero.

    Attributes:
        title: What it shows.
        anchor: What a link to it ends in, and what its file is called.
        axis: What the figures measure.
        marks: They, in their order.
        caption: What a reader has to know to read it.
    """

    title: str
    anchor: str
    axis: Axis
    marks: tuple[Interval, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """A curve.

    Attributes:
        name: Whose it is.
        points: x and y, in ascending x; y is ``None`` where it is not finite.
    """

    name: str
    points: tuple[tuple[float, float | None], ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """A plot of curves over one parameter.

    Attributes:
        title: What it shows.
        anchor: What a link to it ends in, and what its file is called.
        x: The parameter.
        y: What was measured.
        traces: The curves.
        caption: What a reader has to know to read it.
    """

    title: str
    anchor: str
    x: Axis
    y: Axis
    traces: tuple[Trace, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A plot of who won against whom how often. Its figures stand in a table before it.

    Attributes:
        title: What it shows.
        anchor: What a link to it ends in, and what its file is called.
        names: Of the rows, and of the columns.
        wins: How often that of the row won against that of the column.
        ties: How often both tied.
        caption: What a reader has to know to read it.
    """

    title: str
    anchor: str
    names: tuple[str, ...]
    wins: tuple[tuple[int, ...], ...]
    ties: tuple[tuple[int, ...], ...]
    caption: str = ""


Plot = Bars | Intervals | Curves | Matrix
#: The kinds of :data:`Plot`.
PLOTS = (Bars, Intervals, Curves, Matrix)
Part = Heading | Prose | Table | Criteria | Notes | Code | Bars | Intervals | Curves | Matrix


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
