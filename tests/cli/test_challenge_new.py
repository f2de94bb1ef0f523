"""challenge new: what it writes judges as it is, in every kind; names, and what is there already."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.events import Finished
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.runner import run
from judge_tui.checks.verdict import Verdict
from judge_tui.cli.new_folder import write_new
from judge_tui.judging.challenges.settings import read_settings
from judge_tui.judging.workspace import Workspace

Cli = Callable[..., Any]
KINDS = (("numbers",), ("tests",), ("programs",), ("numbers", "tests", "programs"))


def new(cli: Cli, name: str, kinds: tuple[str, ...] = ()) -> Any:
    return cli("challenge", "new", name, *(word for kind in kinds for word in ("--kind", kind)))


def verdicts(root: Path, task: str) -> Mapping[str, Mapping[str, Verdict]]:
    """Of the answers that a challenge brings, by their names."""
    folder = root / "challenges" / task
    answers = [*(folder / "right").iterdir(), *(folder / "wrong").iterdir()]
    asked = tuple(RequestedSubmission(each.name, str(each)) for each in answers)
    request = Request(task, asked, challenge=Workspace.at(root).challenge(task), fresh=True)
    found: dict[str, dict[str, Verdict]] = {each.name: {} for each in answers}
    for event in run(request):
        if isinstance(event, Finished):
            found[event.outcome.model][event.outcome.check] = event.outcome.verdict
    return found


@pytest.mark.quick
@pytest.mark.parametrize("kinds", [("programs",), KINDS[-1]], ids="+".join)
def test_what_is_written_judges_as_it_is(cli: Cli, root: Path, kinds: tuple[str, ...]) -> None:
    assert new(cli, "mine", kinds).code == 0
    found = verdicts(root, "mine")
    assert {Verdict.PASS} <= set(found["plain"].values()) <= {Verdict.PASS, Verdict.SKIP}
    wrong = root / "challenges" / "mine" / "wrong" / "short_start"
    must_fail = tomllib.loads((wrong / "submission.toml").read_text())["must_fail"]
    assert len(must_fail) == len(kinds)
    assert {check: found["short_start"][check] for check in must_fail} == dict.fromkeys(must_fail, "fail")


@pytest.mark.quick
def test_challenge_check_has_nothing_against_it(cli: Cli, root: Path) -> None:
    new(cli, "mine")
    told = cli("challenge", "check", "mine")
    assert told.code == 0, told.out
    assert "short_start: accuracy fail" in told.out
    assert "plain: passes\n" in told.out


@pytest.mark.thorough
@pytest.mark.parametrize("kinds", KINDS[1:3], ids="+".join)
def test_challenge_check_has_nothing_against_the_other_kinds(
    cli: Cli, root: Path, kinds: tuple[str, ...]
) -> None:
    new(cli, "mine", kinds)
    told = cli("challenge", "check", "mine")
    assert told.code == 0, told.out
    assert "plain: passes\n" in told.out


@pytest.mark.parametrize("kinds", KINDS, ids="+".join)
def test_every_key_that_stands_in_a_comment_is_one(cli: Cli, root: Path, kinds: tuple[str, ...]) -> None:
    new(cli, "mine", kinds)
    path = root / "challenges" / "mine" / "challenge.toml"
    said = path.read_text()
    path.write_text(re.sub(r"(?m)^# (?=\S+ = |\[)", "", said))
    found = read_settings(path)
    assert (found.title, found.limits.seconds, found.limits.memory) == ("Moving average", 2.0, 512 << 20)
    assert found.process == ("file" if "tests" in kinds else "test")
    assert ("edges" in found.group_limits, "python" in found.languages) == ("programs" in kinds,) * 2


def test_the_next_commands_are_told_and_the_task_is_there(cli: Cli, root: Path) -> None:
    told = new(cli, "mine").out
    for command in ("challenge check mine", "add FOLDER --model NAME --task mine", "--task mine"):
        assert command in told
    assert "mine  Moving average" in cli("tasks").out


def test_nothing_is_overwritten(cli: Cli, root: Path) -> None:
    mine = root / "challenges" / "mine"
    mine.mkdir(parents=True)
    (mine / "challenge.md").write_text("# Mine\n")
    ended = new(cli, "mine")
    assert ended.code == 2
    assert "is there already" in ended.err
    assert [path.name for path in mine.iterdir()] == ["challenge.md"]
    assert [path.name for path in mine.parent.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("name", "told"),
    [("kv", "built-in"), ("My.Task", "Take my_task"), ("../up", "Take up"), ("ß", "no name")],
)
def test_a_name_that_cannot_be_one_is_refused(cli: Cli, root: Path, name: str, told: str) -> None:
    ended = new(cli, name)
    assert ended.code == 2
    assert told in ended.err
    assert not (root / "challenges").exists()


def test_outside_of_a_workspace_one_is_offered(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = new(cli, "mine")
    assert ended.code == 2
    assert "judge-tui init . && judge-tui challenge new mine" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_link_out_of_the_workspace_is_not_written_through(cli: Cli, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "challenges").symlink_to(tmp_path / "elsewhere")
    assert new(cli, "mine").code == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_told(cli: Cli, root: Path) -> None:
    (root / "challenges").write_text("a file\n")
    ended = new(cli, "mine")
    assert ended.code == 2
    assert "Not a directory" in ended.err


def test_a_folder_is_made_over_nothing_and_an_empty_one_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_new(tmp_path / "empty", {"a/b.txt": b"1"})
    assert (tmp_path / "empty" / "a" / "b.txt").read_bytes() == b"1"
    with pytest.raises(WorkspaceError, match="is not empty"):
        write_new(tmp_path / "empty", {"c.txt": b"2"})
    assert [path.name for path in tmp_path.rglob("*")] == ["empty", "a", "b.txt"]


def test_the_group_says_what_it_offers(cli: Cli) -> None:
    ended = cli("challenge")
    assert ended.code == 0
    assert "new" in ended.out
    assert cli("challenge", "nwe").code == 2
