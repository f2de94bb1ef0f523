"""Published tables come out of the scores of this repository alone, and a judge's own prose of its rounds."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.errors import UsageError
from judge_tui.judging.rounds import ROUNDS
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.summaries.parts import Criteria, Prose, Report, Table
from judge_tui.judging.workspace import Workspace

ROOT = Path(__file__).parents[2]
FACTS = tomllib.loads(Path(__file__).with_name("published_tables.toml").read_text())
EDGES = tomllib.loads(Path(__file__).with_name("published_edges.toml").read_text())["table"]
TABLES = {table["id"]: table for table in FACTS["table"]}
SOURCES = {
    "000": "3-Way Head-to-Head Analysis: GLM-5 vs MiniMax-M2.7 vs Qwen3-6",
    "001": "3-Way Head-to-Head: Harder Challenges",
    "002": "Round 2 Summary: GLM-5 vs Qwen3.6-27B",
    "003": "Round 3: Flash Attention Backward Pass - Head-to-Head Analysis",
    "004": "2-Way Head-to-Head Comparisons",
}
TITLES = {
    "glm5": "GLM-5",
    "glm5.1": "GLM-5.1",
    "kimi-k2.6": "Kimi K2.6",
    "minimax-m2.7": "MiniMax-M2.7",
    "qwen36": "Qwen3-6",
}
#: How the published tables call models and the winners among them.
SHORT = {"GLM": "GLM-5", "MiniMax": "MiniMax-M2.7", "Qwen": "Qwen3-6", "Tie": "tie", "Split": "split"}
TRIO = ("glm5", "minimax-m2.7", "qwen36")
PAIR = ("glm5", "qwen36")
FOUR = ("kimi-k2.6", "glm5", "qwen36", "glm5.1")
#: Documents with letters → their models.
LETTERS = {"000": TRIO, "001": TRIO, "003": FOUR}
#: Prose of a judge, by the round that holds it → the published table and which of its rows and columns.
PASSAGES = [
    ("round-1", "000.executive_summary", slice(1, None), slice(None)),
    ("round-1", "000.quality_architecture", slice(None), slice(None)),
    ("round-1-pair", "002.competitive", slice(None), slice(None)),
    ("round-2", "001.executive_summary", slice(4, None), slice(None)),
    ("round-2", "001.harness", slice(None), slice(None)),
    ("round-2", "001.critical_tests", slice(None), slice(None)),
    ("round-2", "001.combined", slice(None), slice(None)),
    ("round-3", "003.executive_summary", slice(None), slice(0, None, 7)),
    ("round-3", "003.strategies", slice(None), slice(None)),
    ("round-3", "003.ranking", slice(None), slice(None)),
]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """This repository without its rounds."""
    root = tmp_path_factory.mktemp("alone")
    for folder in ("scores", "rubrics", "submissions", ROUNDS):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copy(ROOT / "judge-tui.toml", root)
    shutil.rmtree(root / ROUNDS)
    return Workspace.find(explicit=root)


def _texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def _plain(text: str) -> str:
    return text.replace("**", "")


def _with(report: Report, *columns: str) -> Table:
    """The first table that has these columns."""
    return next(part for part in report.parts if isinstance(part, Table) and {*columns} <= {*part.head})


def _of_source(workspace: Workspace, models: Sequence[str], task: str, doc: str) -> Criteria:
    report = report_of(workspace, Asked("two-way", tuple(models), (task,)))
    (found,) = [part for part in report.parts if isinstance(part, Criteria) and part.source == SOURCES[doc]]
    return found


@pytest.mark.parametrize("table", EDGES, ids=[table["id"] for table in EDGES])
def test_edges_come_out_with_what_stands_beside_them(alone: Workspace, table: dict[str, Any]) -> None:
    models = {title: model for model, title in TITLES.items()}
    made = _of_source(alone, [models[title] for title in table["columns"][1:-1]], table["task"], "004")
    assert [[line.name, *line.cells] for line in made.lines] == [
        [_plain(cell) for cell in row[:-1]] for row in table["rows"]
    ]
    words = [_plain(row[-1]).rstrip(")").partition(" (") for row in table["rows"]]
    assert [(line.edge, line.note) for line in made.lines] == [(SHORT[edge], note) for edge, _, note in words]
    tally = dict(entry.split("=") for entry in table["tally"])
    named = {"glm5": "GLM-5", "minimax": "MiniMax-M2.7", "qwen36": "Qwen3-6", "tie": "tie"}
    assert {edge: count for edge, count in made.edges.items() if count} == {
        named[short]: int(count) for short, count in tally.items()
    }


def test_the_scoreboard_of_the_pair_comes_out(alone: Workspace) -> None:
    board = _with(report_of(alone, Asked("round", PAIR, ("kv", "backwards", "fuse"))), "Winner", "Margin")
    published = TABLES["002.scoreboard"]["rows"]
    assert [[*(cell.split()[0] for cell in row[1:3]), *row[3:5]] for row in _texts(board)] == [
        [one.removesuffix("/100"), other.removesuffix("/100"), TITLES[winner], margin]
        for _, one, other, winner, margin in published
    ]
    assert [row[0] for row in _texts(board)][-1] == published[-1][0] == "Average"


@pytest.mark.parametrize("task", ["kv", "backwards", "fuse"])
def test_the_dimensions_of_the_pair_come_out(alone: Workspace, task: str) -> None:
    table = _with(report_of(alone, Asked("head-to-head", PAIR, (task,))), "Dimension")
    made = [row for row in _texts(table) if row[0] != "Grade"]
    made[-1][0] = made[-1][0].replace("Points", "Overall")
    assert made == TABLES[f"002.{task}_dimensions"]["rows"]


@pytest.mark.parametrize("doc", LETTERS)
def test_grades_come_out(alone: Workspace, doc: str) -> None:
    results = [one for one in FACTS["result"] if one["doc"] == doc and "grade" in one]
    results = [one for one in results if one["task"] not in ("overall", "combined")]
    assert results
    for task in dict.fromkeys(one["task"] for one in results):
        board = _with(report_of(alone, Asked("round", LETTERS[doc], (task,))), "Winner")
        made = dict(zip(board.head, board.rows[0], strict=True))
        of = [one for one in results if one["task"] == task]
        cells = {one["model"]: made[TITLES[one["model"]]] for one in of}
        assert {model: cell.text.split()[-1] for model, cell in cells.items()} == {
            one["model"]: one["grade"] for one in of
        }
        assert {model for model, cell in cells.items() if cell.strong} == {
            one["model"] for one in of if one["winner"]
        }


CONTESTS = [one for one in FACTS["contest"] if one["task"] not in ("overall", "average")]


@pytest.mark.parametrize(
    "contest", CONTESTS, ids=["-".join((one["doc"], one["task"], *one["models"])) for one in CONTESTS]
)
def test_winners_and_margins_come_out(alone: Workspace, contest: dict[str, Any]) -> None:
    made = _of_source(alone, contest["models"], contest["task"], contest["doc"])
    winners = contest["winners"]
    assert made.winner == (TITLES[winners[0]] if len(winners) == 1 else "split")
    assert made.margin == contest.get("margin")
    assert made.differentiator


def test_winners_with_their_key_differentiator_come_out(alone: Workspace) -> None:
    board = _with(report_of(alone, Asked("head-to-head", TRIO, ("backwards", "fuse", "kv"))), "Winner")
    columns = [board.head.index(name) for name in ("Winner", "Key differentiator")]
    assert [[row[at] for at in columns] for row in _texts(board)] == [
        row[1:] for row in TABLES["000.winner_summary"]["rows"]
    ]


@pytest.mark.parametrize(
    ("name", "models", "task"),
    [
        ("001.flash_metrics", TRIO, "flash_attention"),
        ("001.beam_metrics", TRIO, "beam_search"),
        ("003.metrics", FOUR, "flash_attention_bwd"),
    ],
)
def test_metrics_come_out_as_criteria_with_their_source(
    alone: Workspace, name: str, models: tuple[str, ...], task: str
) -> None:
    made = _of_source(alone, models, task, name[:3])
    rows = TABLES[name]["rows"]
    assert [[line.name, *line.cells] for line in made.lines][: len(rows)] == rows
    assert not any(line.edge for line in made.lines)


def test_the_metrics_of_the_last_summary_come_out(alone: Workspace) -> None:
    """Its table stands on its side, and calls three of them otherwise."""
    made = _of_source(alone, FOUR, "flash_attention_bwd", "003")
    rows = {line.name: line.cells for line in made.lines}
    names = ("dV vs finite diff", "dQ spot", "dK spot", "dQ vs naive", "Peak memory (N=4096)")
    published = TABLES["003.executive_summary"]["rows"][: len(FOUR)]
    assert [[TITLES[model], *(rows[name][at] for name in names)] for at, model in enumerate(FOUR)] == [
        [row[0], *row[2:7]] for row in published
    ]


def test_the_matrix_of_the_series_comes_out(alone: Workspace) -> None:
    """Where another document contradicts it, the report takes that one and says so."""
    pairs = [TRIO[:2], TRIO[1:], PAIR[::-1]]
    for pair, row in zip(pairs, TABLES["004.summary_matrix"]["rows"], strict=True):
        tasks = ("backwards", "fuse", "kv")
        assert [_of_source(alone, pair, task, "004").winner for task in tasks] == [
            SHORT[winner] for winner in row[1:4]
        ]
        report = report_of(alone, Asked("two-way", pair, tasks))
        taken = [part.text for part in report.parts if isinstance(part, Prose) and "taken here" in part.text]
        total = _texts(_with(report, "Winner"))[-1][-2]
        if row[4].endswith("3-0**"):
            assert (total, taken) == (f"{SHORT[row[1]]}, 3 of 3 tasks", [])
        else:
            assert row[4] == "**Qwen 2.5-0.5**"
            assert total == "Qwen3-6, 2 of 3 tasks"
            (said,) = taken
            assert f"“{SOURCES['002']}” has GLM-5 +2, which is taken here" in said
            assert f"“{SOURCES['004']}” has split" in said


@pytest.mark.parametrize(("name", "table", "rows", "columns"), PASSAGES, ids=[each[1] for each in PASSAGES])
def test_prose_tables_stand_in_rounds_as_the_judges(
    name: str, table: str, rows: slice, columns: slice
) -> None:
    report = report_of(Workspace.find(explicit=ROOT), Asked("round", rounds=(name,)))
    published = TABLES[table]
    found = [
        part
        for part in report.parts
        if isinstance(part, Table)
        if [*part.head] == published["columns"][columns]
        if _texts(part) == [row[columns] for row in published["rows"][rows]]
    ]
    assert [part.caption for part in found] == ["In the words of deepseek-v4-pro."]


@pytest.mark.parametrize(("name", "doc"), [("round-1", "000"), ("round-2", "001")])
def test_letters_over_all_tasks_stand_in_rounds_as_the_judges(name: str, doc: str) -> None:
    report = report_of(Workspace.find(explicit=ROOT), Asked("round", rounds=(name,)))
    overall = {
        TITLES[one["model"]]: one["grade"]
        for one in FACTS["result"]
        if (one["doc"], one["task"]) == (doc, "overall")
    }
    (said,) = [part.text for part in report.parts if isinstance(part, Prose) and "Grades over" in part.text]
    assert said.rpartition(": ")[2] == f"{', '.join(f'{who} {overall[who]}' for who in sorted(overall))}."


def test_every_published_table_is_held() -> None:
    held = {"002.scoreboard", "000.winner_summary", "004.summary_matrix", "001.flash_metrics"}
    held |= {"001.beam_metrics", "003.metrics", "003.executive_summary"}
    held |= {f"002.{task}_dimensions" for task in ("kv", "backwards", "fuse")}
    assert held | {table for _, table, _, _ in PASSAGES} == set(TABLES)


def test_published_metrics_are_a_report_that_no_machine_changes(alone: Workspace) -> None:
    tasks = ("flash_attention", "beam_search", "flash_attention_bwd", "kv")
    report = report_of(alone, Asked("metrics", (), tasks, published=True))
    made = [part for part in report.parts if isinstance(part, Table)]
    for name, table in zip(("001.flash_metrics", "001.beam_metrics", "003.metrics"), made, strict=True):
        rows = TABLES[name]["rows"]
        assert _texts(table)[: len(rows)] == rows
    prose = [part.text for part in report.parts if isinstance(part, Prose)]
    assert sum("nothing of it was measured here" in text for text in prose) == 3
    assert any("original submissions" in text for text in prose)


def test_published_metrics_stand_in_where_nothing_was_measured(
    alone: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    report = report_of(alone, Asked("metrics", ("kimi", "qwen"), ("flash_attention_bwd",)))
    (table,) = [part for part in report.parts if isinstance(part, Table)]
    assert table.head == ("Metric", "Kimi K2.6", "Qwen3-6")
    assert isinstance(report.parts[0], Prose)
    assert report.parts[0].text.endswith("judge-tui check kimi-k2.6 --task flash_attention_bwd")
    for published, told in ((False, "no outcome"), (True, "nobody has published metrics")):
        with pytest.raises(UsageError, match=told):
            report_of(alone, Asked("metrics", (), ("kv",), published=published))
