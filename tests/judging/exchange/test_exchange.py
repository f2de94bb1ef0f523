"""Data out and in: nothing is lost on the way, nothing is written over, and a bad file changes nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.judging.blind import BlindMark
from judge_tui.judging.card import MACHINE, DimensionScore, Scorecard
from judge_tui.judging.exchange import coming_in
from judge_tui.judging.exchange.as_table import from_csv, to_csv
from judge_tui.judging.exchange.coming_in import Form, Plan, carried_out, planned, read_records
from judge_tui.judging.exchange.going_out import records
from judge_tui.judging.exchange.records import card_of, card_record
from judge_tui.judging.exchange.shapes import RECORD, json_schema
from judge_tui.judging.matchup import load_matchups, render_matchups
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import load_scorecard, render_scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace

ROOT = Path(__file__).parents[3]
HERE = Path("in.jsonl")


def _lines(
    workspace: Workspace, faults: list[str] | None = None, *, outcomes: bool = False
) -> list[dict[str, Any]]:
    told: list[str] = []
    found = list(records(workspace, (), workspace.tasks(), (), told, outcomes=outcomes))
    if faults is None:
        assert not told
    else:
        faults += told
    return found


def _taken(workspace: Workspace, text: str, form: Form = "jsonl", *, replace: bool = False) -> Plan:
    faults: list[str] = []
    plan = planned(workspace, read_records(text, form, HERE, faults), HERE, faults, replace=replace)
    if not plan.faults:
        carried_out(plan.writings)
    return plan


def _jsonl(found: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in found)


@pytest.fixture
def empty(tmp_path: Path) -> Workspace:
    (tmp_path / "empty" / "submissions").mkdir(parents=True)
    return Workspace.at(tmp_path / "empty")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.toml"))}


def test_what_this_repository_says_comes_back_byte_for_byte(empty: Workspace) -> None:
    plan = _taken(empty, _jsonl(_lines(Workspace.find(explicit=ROOT))))
    assert not plan.faults
    saved = {
        name: (
            render_matchups(load_matchups(ROOT / "scores" / name))
            if "matchups" in name
            else render_scorecard(load_scorecard(ROOT / "scores" / name))
        ).encode()
        for name in _files(ROOT / "scores")
    }
    assert _files(empty.root / "scores") == saved
    again = _taken(empty, _jsonl(_lines(Workspace.find(explicit=ROOT))))
    assert (again.count("same"), again.count("new")) == (len(saved), 0)


NOTE = new_note("bug", "No\tcache.", severity="critical", file="a b.py", lines=(2, 3), source="x\ny\nz\n")
FULL = Scorecard(
    "kv",
    "glm5@3",
    "anna",
    submission="sha256:1",
    created=datetime.fromisoformat("2026-03-01T10:00:00+01:00"),
    updated=date(2026, 3, 2),
    overall=0,
    overall_reason="=1+1",
    grade="A-",
    summary="Zeilen\nund 中文 \u200d",
    dimensions={"correctness": DimensionScore(0, 'a,b;"c"\r\n'), "own": DimensionScore(None, "'quoted")},
    notes=(NOTE,),
    blind=BlindMark("2026-03-01", datetime.fromisoformat("2026-03-01T10:00:00"), "A"),
    judge_kind=MACHINE,
    provenance={"source": "m", "order": ["A", "B"], "received": datetime(2026, 3, 1, 1, 2, 3, 4)},
    extra={"mine": {"at": date(2026, 1, 1), "created": "not a moment"}, "list": [1.5, True]},
)


def test_all_that_a_card_can_say_comes_back() -> None:
    record = json.loads(json.dumps(card_record(FULL)))
    assert (record["model"], record["attempt"]) == ("glm5", 3)
    assert render_scorecard(card_of(record, HERE)) == render_scorecard(FULL)


@given(st.text(max_size=12) | st.dates().map(date.isoformat) | st.datetimes().map(datetime.isoformat))
def test_a_text_stays_a_text_and_a_moment_a_moment(text: str) -> None:
    for card in (replace(FULL, created=text), replace(FULL, created=datetime.min, summary=text)):
        record = json.loads(json.dumps(card_record(card)))
        assert card_of(record, HERE).created == card_of(card_record(card), HERE).created
        assert render_scorecard(card_of(record, HERE)) == render_scorecard(card)


def test_every_record_has_the_shape_that_is_told() -> None:
    for record in [*_lines(Workspace.find(explicit=ROOT)), card_record(FULL)]:
        msgspec.convert(record, RECORD)
    schema = json_schema()
    assert schema["$schema"].startswith("https://json-schema.org/")
    card = schema["$defs"]["ScorecardRecord"]
    assert set(card["required"]) == {"record", "task", "model", "judge"}


def test_a_table_holds_what_it_says_it_holds(empty: Workspace) -> None:
    text = to_csv([card_record(FULL)])
    assert "\n'=1+1" not in text
    assert ",'=1+1," in text
    ((line, record),) = from_csv(text)
    assert line == 2
    made, meant = card_of(record, HERE), card_of(card_record(FULL), HERE)
    assert (made.model, made.overall, made.overall_reason, made.grade) == ("glm5@3", 0, "=1+1", "A-")
    assert (made.dimensions, made.summary, made.judge_kind) == (meant.dimensions, meant.summary, MACHINE)
    assert [(n.kind, n.severity, n.text, n.file, n.lines) for n in made.notes] == [
        ("bug", "critical", "No\tcache.", "a b.py", (2, 3))
    ]
    assert _taken(empty, text.replace(",own,", ",completeness,"), "csv").count("new") == 1


def test_a_table_of_ones_own_needs_few_columns(empty: Workspace) -> None:
    text = "task,model,judge,part,name,value\nkv,glm5,anna,dimension,correctness,85\nkv,glm5,anna,grade,,B\n"
    assert _taken(empty, text, "csv").count("new") == 1
    card = empty.scorecard("kv", "glm5", "anna")[0]
    assert (card.scores, card.grade) == ({"correctness": 85}, "B")


def _card(workspace: Workspace, score: int) -> Path:
    path = workspace.scorecard_path("kv", "glm5", "anna")
    save_scorecard(path, Scorecard("kv", "glm5", "anna").with_score("correctness", score), None)
    return path


def test_nobodys_word_is_written_over_unasked(empty: Workspace) -> None:
    path = _card(empty, 85)
    before = path.read_bytes()
    record = card_record(Scorecard("kv", "glm5", "anna").with_score("correctness", 10))
    other = card_record(Scorecard("kv", "qwen36", "anna").with_score("correctness", 10))
    plan = _taken(empty, _jsonl([other, record]))
    assert [fault.split(":")[:2] for fault in plan.faults] == [["in.jsonl", "2"]]
    assert "--replace" in plan.faults[0]
    assert _files(empty.root) == {"scores/kv/glm5/anna.toml": before}
    assert _taken(empty, _jsonl([other, record]), replace=True).count("replaced") == 1
    assert empty.scorecard("kv", "glm5", "anna")[0].score("correctness") == 10


@pytest.mark.parametrize(
    "error", [WorkspaceError("cannot be written: No space left on device."), KeyboardInterrupt()]
)
def test_what_fails_or_is_broken_off_in_the_middle_leaves_all_as_it_was(
    empty: Workspace, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = _card(empty, 85)
    before = _files(empty.root)
    lines = [
        card_record(Scorecard("kv", model, "anna").with_score("correctness", 10))
        for model in ("a", "glm5", "z")
    ]
    write, written = coming_in.write_atomically, []

    def failing(to: Path, data: bytes, *rest: Any) -> None:
        if to.parent.name == "z":
            raise error
        written.append(to.parent.name)
        write(to, data, *rest)

    monkeypatch.setattr(coming_in, "write_atomically", failing)
    with pytest.raises(type(error)):
        _taken(empty, _jsonl(lines), replace=True)
    assert written == ["a", "glm5", "glm5"]
    assert _files(empty.root) == before
    assert path.exists()


def test_what_is_judged_blind_stays_here(workspace: Workspace) -> None:
    for model, blind in (("glm5", BlindMark(began="2026-03-01")), ("qwen36", None)):
        card = replace(Scorecard("kv", model, "anna").with_score("correctness", 10), blind=blind)
        save_scorecard(workspace.scorecard_path("kv", model, "anna"), card, None)
    faults: list[str] = []
    assert [record["model"] for record in _lines(workspace, faults)] == ["qwen36"]
    assert "1 scorecard judged blind" in faults[0]


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ('{"record": "scorecard"', "jsonl", "in.jsonl:1: is no JSON"),
        ('\n\n{"record": "scorecard"}', "jsonl", "in.jsonl:3: 'task' is missing"),
        ("[1]", "jsonl", "in.jsonl:1: is no object"),
        ('{"record": "poem"}', "jsonl", "in.jsonl:1: 'record' must be"),
        ('{"task": "kv", "model": "../x", "judge": "a"}', "jsonl", "in.jsonl:1:"),
        ('{"task": "..", "model": "x", "judge": "a"}', "jsonl", "in.jsonl:1:"),
        ('{"task": "kv", "model": "x", "judge": "a/b"}', "jsonl", "in.jsonl:1:"),
        ('{"task": "kv", "model": "x", "judge": "a", "overall": 101}', "jsonl", "between 0 and 100"),
        ('{"task": "kv", "model": "x", "judge": "a", "overall": NaN}', "jsonl", "no number"),
        ('{"task": "kv", "model": "x", "judge": "a", "attempt": 0}', "jsonl", "'attempt'"),
        ('{"task": "kv", "model": "x", "judge": "a", "judge_kind": "cat"}', "jsonl", "'judge_kind'"),
        ('{"task": "kv", "model": "x", "judge": "a", "schema": 9}', "jsonl", "schema 9"),
        ('{"task": "kv", "model": "x", "judge": "a"}\n' * 2, "jsonl", "in.jsonl:2: says once more"),
        ('{"task": "kv", "model": "x@2", "judge": "a", "attempt": 3}', "jsonl", "the model is 'x@2'"),
        ('{"task": "kv", "model": "x@y", "judge": "a"}', "jsonl", "in.jsonl:1: 'x@y' is no attempt"),
        ('{"task": "kv", "model": "x@02", "judge": "a"}', "jsonl", '"model": "x" and its "attempt"'),
        (
            '{"record": "matchups", "task": "kv", "judge": "a", "matchups": [{"models": ["x@", "y"]}]}',
            "jsonl",
            "in.jsonl:1: 'x@' is no attempt",
        ),
        (
            '{"task": "kv", "model": "x", "judge": "a", "dimensions": {"corectness": {"score": 1}}}',
            "jsonl",
            "in.jsonl:1: 'corectness' is no dimension of the rubric of kv. Did you mean correctness",
        ),
        (
            '{"task": "kv", "model": "x", "judge": "a", "overall": 1, "overall": 2}',
            "jsonl",
            "'overall' twice",
        ),
        ("{}", "json", "list of records"),
        ("task;model;judge;part;value\n", "csv", "in.jsonl:1: the first line has no column"),
        ("task;model;judge;part;value\n", "csv", "by commas, not by ';'"),
        (
            'task,model,judge,part,value\nkv,x,a,overall,1\nkv,x,"a,overall,1\n',
            "csv",
            "in.jsonl:3: is no CSV",
        ),
        ("a,b\n1,2\n", "csv", "no column task"),
        ("task,model,judge,part,value\nkv,x,a,poem,1\n", "csv", "in.jsonl:2: 'part'"),
        ("task,model,judge,part,name,value\nkv,x,a,dimension,c,lots\n", "csv", "in.jsonl:2: 'value'"),
        ("task,model,judge,part,value\nkv,x\n", "csv", "in.jsonl:2:"),
    ],
)
def test_a_fault_is_told_with_its_line(empty: Workspace, text: str, form: Form, said: str) -> None:
    plan = _taken(empty, text, form)
    assert said in plan.faults[0]
    assert not _files(empty.root)


def test_a_hint_on_a_name_is_about_no_command(empty: Workspace) -> None:
    (fault,) = _taken(empty, '{"task": "kv", "model": "a:b", "judge": "a"}').faults
    assert fault == "in.jsonl:1: the name of a model cannot hold : as in 'a:b'."


def test_what_the_workspace_lacks_is_taken_and_told(empty: Workspace) -> None:
    other = {"rubric": {"id": "kv", "digest": "sha256:other"}, "dimensions": {"old": {"score": 3}}}
    records = [
        {"task": "kvx", "model": "one", "judge": "a", "dimensions": {"any": {"score": 3}}},
        {"task": "kvx", "model": "two", "judge": "a"},
        {"task": "kv", "model": "one", "judge": "a", **other},
    ]
    plan = _taken(empty, "\n".join(map(json.dumps, records)))
    assert plan.count("new") == 3
    assert plan.remarks == (
        "in.jsonl:1: kvx is no task of this workspace: 2 records taken all the same. Is kv meant?",
        "in.jsonl:3: scored by another rubric than that of kv: old taken, and in no figure.",
        "in.jsonl:3: no submission is here of one on kv: taken all the same.",
    )


def test_a_model_of_old_with_the_sign_in_its_name_is_one(empty: Workspace) -> None:
    (empty.root / "submissions" / "x@y" / "kv").mkdir(parents=True)
    (empty.root / "submissions" / "x@y" / "kv" / "a.py").write_text("pass\n")
    assert not _taken(empty, '{"task": "kv", "model": "x@y", "judge": "a"}').faults


def _mutated(text: str) -> Iterator[str]:
    """A text with something wrong in one place."""
    chance = random.Random(3)
    lines = text.splitlines()
    for _ in range(200):
        changed = list(lines)
        at = chance.randrange(len(changed))
        kind = chance.randrange(4)
        if kind == 0:
            cut = chance.randrange(1, len(changed[at]))
            changed[at] = changed[at][:cut]
        elif kind == 1:
            record = json.loads(changed[at])
            record[chance.choice(("task", "judge"))] = chance.choice((None, 3, "", "..", "a/b", [], " x"))
            changed[at] = json.dumps(record)
        elif kind == 2:
            record = json.loads(changed[at])
            own = ("matchups",) if "matchups" in record else ("notes", "dimensions", "overall")
            key = chance.choice((*own, "schema"))
            record[key] = chance.choice(("x", -1, 1.5, [3], [[]]))
            changed[at] = json.dumps(record)
        else:
            changed.insert(at, changed[chance.randrange(len(changed))])
        yield "\n".join(changed)


def test_mutated_files_change_nothing_and_are_told_with_a_line(empty: Workspace) -> None:
    every = _lines(Workspace.find(explicit=ROOT))
    text = _jsonl([*every[:3], *every[-2:]])
    for mutated in _mutated(text):
        plan = _taken(empty, mutated)
        assert plan.faults, mutated
        assert all(fault.startswith("in.jsonl:") for fault in plan.faults)
        assert not _files(empty.root)


@given(st.binary(max_size=200))
def test_rubbish_is_told(data: bytes) -> None:
    text = data.decode("latin-1")
    for form in ("jsonl", "json", "csv"):
        faults: list[str] = []
        for _, record in read_records(text, form, HERE, faults):
            assert isinstance(record, dict)
            with pytest.raises(JudgeError):
                card_of(record, HERE)
