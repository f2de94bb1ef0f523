"""Rounds: prose of a judge around what scorecards and matchups say, of which nothing comes from its file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.judging.rounds import ROUNDS, one_round, rounds_of
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.summaries.parts import Criteria, Heading, Notes, Prose, Report, Table
from judge_tui.judging.workspace import Workspace

ROOT = Path(__file__).parents[2]
PAIR = ("glm5", "qwen36")


@pytest.fixture
def published(tmp_path: Path) -> Workspace:
    """This repository's scores, and none of its rounds."""
    for folder in ("scores", "rubrics", "submissions"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "judge-tui.toml", tmp_path)
    return Workspace.find(explicit=tmp_path)


def _write(workspace: Workspace, name: str, text: str) -> None:
    folder = workspace.root / ROUNDS
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_text(text)


def _texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def _below(report: Report, anchor: str) -> list[object]:
    """The parts below a heading, up to the next of its level."""
    parts = list(report.parts)
    start = next(n for n, part in enumerate(parts) if isinstance(part, Heading) and part.anchor == anchor)
    level = parts[start].level  # type: ignore[union-attr]
    found: list[object] = []
    for part in parts[start + 1 :]:
        if isinstance(part, Heading) and part.level <= level:
            break
        found.append(part)
    return found


def test_the_published_scoreboard_comes_out_of_scores_alone(published: Workspace) -> None:
    """Document 002: points, winners, margins and averages."""
    report = report_of(published, Asked("round", PAIR, ("kv", "backwards", "fuse")))
    board = next(part for part in _below(report, "scoreboard") if isinstance(part, Table))
    assert [[row[1].split()[0], row[2].split()[0], row[3], row[4]] for row in _texts(board)] == [
        ["82", "94", "Qwen3-6", "+12"],
        ["82", "93", "Qwen3-6", "+11"],
        ["80", "78", "GLM-5", "+2"],
        ["81", "88", "Qwen3-6", "+7"],
    ]
    assert any(isinstance(part, Prose) and part.text == "Qwen3-6 won 2 of 3 tasks." for part in report.parts)


@pytest.mark.parametrize(
    ("task", "rows"),
    [
        ("kv", {"Correctness": ("95", "95"), "Completeness": ("78", "95"), "Points": ("82", "94")}),
        ("backwards", {"Correctness": ("92", "95"), "Numerical Stability": ("80", "95")}),
        ("fuse", {"Correctness": ("65", "95"), "CUDA Depth": ("92", "82"), "Points": ("80", "78")}),
    ],
)
def test_the_published_dimensions_come_out(
    published: Workspace, task: str, rows: dict[str, tuple[str, str]]
) -> None:
    report = report_of(published, Asked("round", PAIR, (task,)))
    table = next(part for part in _below(report, task) if isinstance(part, Table))
    found = {row[0]: tuple(row[1:]) for row in _texts(table)}
    assert found.items() >= rows.items()


def test_where_documents_disagree_it_says_which_it_took(published: Workspace) -> None:
    report = report_of(published, Asked("round", PAIR, ("fuse",)))
    (told,) = [part.text for part in report.parts if isinstance(part, Prose) and "taken here" in part.text]
    assert "has GLM-5 +2, which is taken here" in told
    assert told.endswith("has split.")


def test_the_document_that_a_round_names_is_taken(published: Workspace) -> None:
    source = "2-Way Head-to-Head Comparisons"
    _write(
        published, "two", f'title = "Two"\ntasks = ["fuse"]\nmodels = ["glm5", "qwen36"]\nsource = "{source}"'
    )
    report = report_of(published, Asked("round", rounds=("two",)))
    board = next(part for part in report.parts if isinstance(part, Table))
    assert _texts(board)[0][3] == "split"
    criteria = next(part for part in report.parts if isinstance(part, Criteria))
    assert (criteria.source, bool(criteria.lines)) == (source, True)


def test_prose_is_the_judges_and_stands_where_it_belongs(published: Workspace) -> None:
    _write(
        published,
        "one",
        'title = "One"\ndate = 2026-04-27\ntasks = ["kv"]\nmodels = ["glm5", "qwen36"]\n'
        '[grades]\nglm5 = "B+"\n'
        '[[prose]]\njudge = "anna"\ntask = "kv"\nheading = "Up close"\n'
        'text = """\nFirst.\n\nSecond\nline."""\n'
        '[[prose]]\njudge = "ben"\ncolumns = ["Factor", "GLM-5"]\nrows = [["Tests", "few"]]\n',
    )
    report = report_of(published, Asked("round", rounds=("one",)))
    assert (report.title, report.newest) == ("One", "2026-04-27")
    assert {"anna", "ben"} < set(report.judges)
    own = [part for part in _below(report, "kv") if isinstance(part, Prose) and part.judge == "anna"]
    assert [part.text for part in own] == ["First.", "Second line."]
    table = next(
        part for part in report.parts if isinstance(part, Table) and part.head == ("Factor", "GLM-5")
    )
    assert table.caption == "In the words of ben."
    assert any("GLM-5 B+" in part.text for part in report.parts if isinstance(part, Prose))


def test_critical_weaknesses_stand_apart(published: Workspace) -> None:
    report = report_of(published, Asked("round", ("glm5", "qwen36"), ("fuse",)))
    notes = [part for part in report.parts if isinstance(part, Notes)]
    critical = [bullet for part in notes if part.kind == "critical" for bullet in part.bullets]
    assert critical
    assert all(bullet.severity == "critical" for bullet in critical)
    others = [bullet for part in notes if part.kind != "critical" for bullet in part.bullets]
    assert not any(b.severity == "critical" and b.kind in ("weakness", "bug") for b in others)


def test_a_round_against_an_earlier_one_says_what_changed(published: Workspace) -> None:
    _write(published, "a", 'title = "A"\ntasks = ["kv", "fuse"]\nmodels = ["glm5", "qwen36"]')
    _write(published, "b", 'title = "B"\ntasks = ["kv"]\nmodels = ["glm5", "qwen36"]\nagainst = "a"')
    report = report_of(published, Asked("round", rounds=("b",)))
    (table,) = [part for part in _below(report, "against") if isinstance(part, Table)]
    assert _texts(table) == [["KV cache for autoregressive inference", "82 A-", "94 A", "Qwen3-6"]]


def test_rounds_are_combined_by_day_and_a_card_counts_once(published: Workspace) -> None:
    _write(published, "b", 'title = "B"\ndate = 2026-05-01\ntasks = ["kv"]\nmodels = ["glm5", "qwen36"]')
    _write(
        published,
        "a",
        'title = "A"\ndate = "2026-06-01"\ntasks = ["kv", "fuse"]\nmodels = ["glm5", "qwen36"]',
    )
    report = report_of(published, Asked("combined"))
    table = next(part for part in report.parts if isinstance(part, Table))
    assert table.head[2:4] == ("B", "A")
    assert [row[1:] for row in _texts(table)] == [
        ["Qwen3-6", "94 A", "86 A ×2", "86", "2"],
        ["GLM-5", "82 A-", "81 A- ×2", "81", "1"],
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tasks = []", "'title' is missing"),
        ('title = "A"\ndate = "soon"', "one.toml:2"),
        ('title = "A"\nschema = 2', "one.toml:2"),
        ('title = "A"\n[[prose]]\ntext = "x"', "'judge' is missing"),
        ('title = "A"\n[[prose]]\njudge = "x"', "says nothing"),
        ('title = "A"\n[[prose]]\njudge = "x"\ncolumns = ["a"]\nrows = [["a", "b"]]', "one.toml:5"),
        ('title = "A"\n[[prose]]\njudge = "x"\nrows = [1]', "one.toml:4"),
        ('title = "A"\ntasks = ["kvv"]', "one.toml:2: there is no task 'kvv'"),
        ('title = "A"\ntasks = ["kv"]\nmodels = ["zz"]', "one.toml:3: there is no model 'zz'"),
        ('title = "A"\ntasks = ["kv"]\n[[prose]]\njudge = "x"\ntask = "fuse"\ntext = "y"', "one.toml:5"),
    ],
)
def test_a_malformed_round_is_told_with_its_line(published: Workspace, text: str, said: str) -> None:
    _write(published, "one", text)
    with pytest.raises(WorkspaceError) as raised:
        one_round(published, "one")
    assert said in str(raised.value)
    with pytest.raises(UsageError, match="no round that can be combined") as told:
        report_of(published, Asked("combined"))
    assert said in str(told.value)
    _write(published, "two", 'title = "Two"\ntasks = ["kv"]')
    faults: list[str] = []
    assert [one.id for one in rounds_of(published, faults)] == ["two"]
    assert said in faults[0]


def test_a_round_that_is_not_there_says_which_are(published: Workspace) -> None:
    with pytest.raises(UsageError) as none:
        one_round(published, "one")
    assert "rounds/one.toml" in none.value.hint
    _write(published, "two", 'title = "Two"')
    with pytest.raises(UsageError) as other:
        one_round(published, "one")
    assert "two" in other.value.hint
    with pytest.raises(UsageError):
        report_of(published, Asked("two-way", PAIR, rounds=("two", "two-b")))


def test_a_link_that_leads_out_is_no_round(
    published: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    away = tmp_path_factory.mktemp("away") / "one.toml"
    away.write_text('title = "Away"')
    (published.root / ROUNDS).mkdir()
    (published.root / ROUNDS / "one.toml").symlink_to(away)
    with pytest.raises(WorkspaceError):
        one_round(published, "one")


@pytest.mark.parametrize("path", sorted((ROOT / ROUNDS).glob("*.toml")), ids=lambda path: path.stem)
def test_the_rounds_of_this_repository_are_reports(path: Path) -> None:
    report = report_of(Workspace.find(explicit=ROOT), Asked("round", rounds=(path.stem,)))
    assert not report.faults
    assert any(isinstance(part, Table) for part in report.parts)
