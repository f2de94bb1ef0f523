"""Scorecards, matchups and submission.toml of other versions: read as far as can be, never written over."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.errors import NewerSchema, WorkspaceError
from judge_tui.checks.schema import Format
from judge_tui.judging import matchup, scorecard, sidefiles
from judge_tui.judging.document import parse_toml
from judge_tui.judging.export import scoreboard_markdown
from judge_tui.judging.matchup import Matchup, Matchups, parse_matchups, save_matchup, save_matchups, stamp_of
from judge_tui.judging.newer import readable
from judge_tui.judging.refusals import card_refusal, matchups_refusal, newer_cards
from judge_tui.judging.scorecard import (
    Conflict,
    FileStamp,
    load_scorecard,
    parse_scorecard,
    read_scorecard,
    save_scorecard,
)
from judge_tui.judging.sidefiles import write_bindings
from judge_tui.judging.standing import standing
from judge_tui.judging.workspace import Workspace

HERE = Path("anna.toml")
Write = Callable[[str], Path]
HEAD = 'task = "kv"\nmodel = "glm5"\njudge = "anna"\n'
#: What a later version may well say otherwise, beside what is as it is now.
CARD = """\
schema = 2
task = "kv"
model = "glm5"
judge = "anna"
overall = { points = 80, of = 100 }
grade = "A"
mood = "new"

[dimensions.correctness]
score = 85
comment = "as ever"

[dimensions.code_quality]
score = 8.5

[[notes]]
kind = "praise"
text = "of a kind that is not known"

[[notes]]
kind = "bug"
text = "of one that is"
"""
MATCHUP = """\
schema = 2
judge = "anna"
rounds = 3

[[matchups]]
models = ["glm5", "qwen36"]
winner = "qwen36"

[[matchups]]
between = { a = "glm5", b = "kimi" }
"""


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def card_path(workspace: Workspace) -> Path:
    return put(workspace.scorecard_path("kv", "glm5", "anna"), CARD)


@pytest.fixture
def matchups_path(workspace: Workspace) -> Path:
    return put(workspace.matchups_path("kv", "anna"), MATCHUP)


# scorecards


def test_a_newer_card_is_read_as_far_as_it_can_be(workspace: Workspace, card_path: Path) -> None:
    card, stamp = workspace.scorecard("kv", "glm5", "anna")
    assert (card.schema, card.grade, card.overall) == (2, "A", None)
    assert (card.score("correctness"), card.comment("correctness")) == (85, "as ever")
    assert card.score("code_quality") is None
    assert [note.text for note in card.notes] == ["of one that is"]
    assert stamp == FileStamp.at(card_path)


def test_of_a_newer_card_its_place_says_whose_it_is_where_it_does_not(workspace: Workspace) -> None:
    put(workspace.scorecard_path("kv", "glm5", "anna"), "schema = 3\njudges = ['anna', 'ben']\n")
    card, _ = workspace.scorecard("kv", "glm5", "anna")
    assert (card.task, card.model, card.judge, card.schema) == ("kv", "glm5", "anna", 3)
    put(workspace.scorecard_path("kv", "glm5", "anna"), 'schema = 3\njudge = "ben"\n')
    with pytest.raises(WorkspaceError, match="says judge 'ben'"):
        workspace.scorecard("kv", "glm5", "anna")


def test_a_newer_card_says_in_one_sentence_why_it_stays_as_it_is(
    workspace: Workspace, card_path: Path
) -> None:
    card, _ = workspace.scorecard("kv", "glm5", "anna")
    assert str(card_refusal(workspace, card)) == (
        f"{card_path}: is a scorecard of schema 2, and this judge-tui knows schema 1: "
        "it is shown as far as it can be read and stays as it is until judge-tui is updated."
    )
    assert newer_cards(workspace) == (str(card_refusal(workspace, card)),)
    assert card_refusal(workspace, workspace.scorecard("kv", "qwen36", "anna")[0]) is None


def test_a_newer_card_is_not_saved_whatever_is_changed_in_it(workspace: Workspace, card_path: Path) -> None:
    card, stamp = workspace.scorecard("kv", "glm5", "anna")
    for target in (card_path, card_path.with_name("another.toml")):
        with pytest.raises(NewerSchema, match="schema 2"):
            save_scorecard(target, card.with_score("correctness", 10), FileStamp.at(target))
    assert stamp == FileStamp.at(card_path)
    assert card_path.read_text() == CARD
    assert not card_path.with_name("another.toml").exists()


def test_what_became_newer_on_disk_meanwhile_is_told_as_that_and_not_written_over(write: Write) -> None:
    path = write(HEAD)
    card, stamp = read_scorecard(path)
    assert card is not None
    path.write_text(CARD)
    with pytest.raises(NewerSchema, match="until judge-tui is updated"):
        save_scorecard(path, card.with_score("correctness", 10), stamp)
    assert path.read_text() == CARD
    path.write_text(HEAD + "overall = 3\n")
    with pytest.raises(Conflict):
        save_scorecard(path, card.with_score("correctness", 10), stamp)


def test_what_goes_on_to_write_gets_no_card_of_a_newer_schema() -> None:
    with pytest.raises(NewerSchema) as raised:
        parse_scorecard(CARD.encode(), HERE)
    assert raised.value.line == 1
    assert parse_scorecard(CARD.encode(), HERE, newer=True).schema == 2


@pytest.mark.parametrize("blind", ["blind = 3\n", "[blind]\nrevealed = 7\n", "[blind]\n"])
def test_what_cannot_be_read_of_a_blind_judging_shows_no_figures_beside_a_name(
    workspace: Workspace, blind: str
) -> None:
    put(workspace.scorecard_path("kv", "glm5", "anna"), f"schema = 2\noverall = 91\n{blind}")
    card, _ = workspace.scorecard("kv", "glm5", "anna")
    assert card.overall == 91
    assert card.sealed
    assert "91" not in scoreboard_markdown(workspace)


def test_a_newer_card_counts_on_the_board_and_is_not_due_in_home(
    workspace: Workspace, card_path: Path
) -> None:
    assert "85" in scoreboard_markdown(workspace)
    card_path.write_text(CARD.replace('grade = "A"\n', ""))
    said = standing(workspace, "glm5", "kv", "anna")
    assert (said.judged, said.scored, said.open) == (False, 1, False)
    assert "schema 2" in said.newer
    other = standing(workspace, "qwen36", "kv", "anna")
    assert (other.newer, other.open) == ("", True)


@pytest.mark.parametrize("stated", ['"two"', "0", "-1", "true", "1.5", "1" + "0" * 30])
def test_a_version_that_is_none_is_one_sentence_with_file_and_line(write: Write, stated: str) -> None:
    path = write(f"{HEAD}schema = {stated}\n")
    for read in (load_scorecard, matchup.load_matchups):
        with pytest.raises(WorkspaceError, match="a whole number from 1 on") as raised:
            read(path)
        assert (raised.value.file, raised.value.line) == (str(path), 4)
        assert not isinstance(raised.value, NewerSchema)


def test_a_card_without_a_version_opens_and_stays_as_it_is_until_it_is_saved(write: Write) -> None:
    path = write(f"{HEAD}mine = 1\n")
    card, stamp = read_scorecard(path)
    assert card is not None
    assert (card.schema, dict(card.extra)) == (1, {"mine": 1})
    assert path.read_text() == f"{HEAD}mine = 1\n"
    save_scorecard(path, card.with_score("correctness", 10), stamp)
    assert "mine = 1\n" in path.read_text()
    assert load_scorecard(path).schema == 1


def renamed(raw: dict[str, Any]) -> dict[str, Any]:
    """Version 2 calls the summary what version 1 called a verdict."""
    return {("summary" if key == "verdict" else key): value for key, value in raw.items()}


SECOND = Format("scorecard", "it stays as it is", (renamed,))


def test_an_old_card_is_written_in_the_present_version_once_it_is_saved_anyway(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorecard, "SCORECARD", SECOND)
    path = write(f'{HEAD}verdict = "fine"\nmine = 1\n\n[dimensions.a]\nscore = 1\nmy = "own"\n')
    card, stamp = read_scorecard(path)
    assert card is not None
    assert (card.summary, card.schema) == ("fine", 2)
    save_scorecard(path, card.with_score("b", 2), stamp)
    text = path.read_text()
    assert text.startswith("schema = 2\n")
    assert all(line in text for line in ('summary = "fine"\n', "mine = 1\n", 'my = "own"\n'))
    assert "verdict" not in text
    again = load_scorecard(path)
    assert (again.summary, again.scores) == ("fine", {"a": 1, "b": 2})


# matchups


def test_newer_matchups_are_read_as_far_as_they_can_be(workspace: Workspace, matchups_path: Path) -> None:
    found = workspace.matchups("kv", "anna")
    assert (found.schema, found.task, found.judge) == (2, "kv", "anna")
    assert found.matchups == (Matchup(("glm5", "qwen36"), "qwen36"),)
    assert re.fullmatch(
        rf"{re.escape(str(matchups_path))}: is a matchup file of schema 2, .* until judge-tui is updated\.",
        str(matchups_refusal(workspace, found)),
    )


def test_nothing_is_saved_into_a_newer_matchup_file(workspace: Workspace, matchups_path: Path) -> None:
    found = workspace.matchups("kv", "anna")
    stamp = stamp_of(found, ("glm5", "qwen36"))
    with pytest.raises(NewerSchema):
        save_matchup(matchups_path, Matchup(("glm5", "qwen36"), "glm5"), Matchups("kv", "anna"), stamp)
    for whole in (found, Matchups("kv", "anna", found.matchups)):
        with pytest.raises(NewerSchema):
            save_matchups(matchups_path, whole, FileStamp.at(matchups_path))
    assert matchups_path.read_text() == MATCHUP
    with pytest.raises(NewerSchema) as raised:
        parse_matchups(MATCHUP.encode(), HERE)
    assert raised.value.line == 1


def test_an_old_matchup_file_is_written_in_the_present_version_once_it_is_saved_anyway(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matchup, "MATCHUPS", Format("matchup file", "it stays", (lambda raw: raw,)))
    text = (
        'task = "kv"\njudge = "anna"\nmine = 1\n\n[[matchups]]\nmodels = ["a", "b"]\nwinner = "a"\nodd = 2\n'
    )
    path = write(text)
    found = matchup.load_matchups(path)
    assert path.read_text() == text
    save_matchup(path, Matchup(("a", "c"), "c"), Matchups("kv", "anna"), None)
    assert path.read_text().startswith("schema = 2\n")
    assert "mine = 1\n" in path.read_text()
    assert matchup.load_matchups(path).matchups[0] == found.matchups[0]


# submission.toml


def test_bindings_are_not_written_into_a_newer_submission_toml(tmp_path: Path) -> None:
    path = put(tmp_path / "submission.toml", 'schema = 2\nmodel = "Some One"\n')
    with pytest.raises(NewerSchema, match="of schema 2, and"):
        write_bindings(tmp_path, {"forward": {"target": "a.py:forward"}})
    assert path.read_text() == 'schema = 2\nmodel = "Some One"\n'


def test_bindings_give_a_file_no_version_that_it_can_do_without(tmp_path: Path) -> None:
    path = put(tmp_path / "submission.toml", '# mine\nmodel = "Some One"\n')
    write_bindings(tmp_path, {"forward": {"target": "a.py:forward"}})
    assert path.read_text().startswith('# mine\nmodel = "Some One"\n')
    assert "schema" not in path.read_text()


def test_bindings_bring_an_old_file_to_the_present_version_and_keep_its_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renamed_too(raw: dict[str, Any]) -> dict[str, Any]:
        return {("origin" if key == "kind" else key): value for key, value in raw.items()}

    monkeypatch.setattr(sidefiles, "SUBMISSION", Format("submission.toml", "it stays", (renamed_too,)))
    path = put(
        tmp_path / "submission.toml", '# how it came\nkind = "mail"\nmine = 1  # odd\n\n[other]\nx = 1\n'
    )
    write_bindings(tmp_path, {"forward": {"target": "a.py:forward"}})
    text = path.read_text()
    raw = dict(parse_toml(text.encode(), path).raw)
    assert raw == {
        "mine": 1,
        "origin": "mail",
        "schema": 2,
        "other": {"x": 1},
        "binding": {"forward": {"target": "a.py:forward"}},
    }
    assert "# how it came\n" in text
    assert "mine = 1  # odd\n" in text


# what can be read


def test_what_can_be_read_is_found_piece_by_piece() -> None:
    def parse(table: Any) -> None:
        table.string("name")
        table.integer("size", 0)
        for each in table.tables("parts"):
            each.string("id")
        for name in table.table("named").raw:
            table.table("named").points(name)

    text = 'size = "large"\nodd = 1\nnamed = { a = 5, b = 500 }\nparts = [{ id = "x" }, { key = "y" }]\n'
    found = readable(parse_toml(text.encode(), HERE), parse, {"name": ""})
    assert found.raw == {"name": "", "odd": 1, "named": {"a": 5}, "parts": [{"id": "x"}]}


def test_a_newer_card_of_thousands_of_odd_notes_is_read_in_no_time() -> None:
    card = parse_scorecard(b"schema = 2\n" + b'[[notes]]\nkind = "odd"\n' * 5000, HERE, newer=True)
    assert card.notes == ()
