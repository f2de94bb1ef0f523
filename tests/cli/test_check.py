from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import msgspec
import pytest

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.events import Done, Event, Finished, Planned, PlannedCheck, Ready, Started
from judge_tui.checks.request import Request
from judge_tui.checks.verdict import Evidence, Outcome, Report, Verdict
from judge_tui.cli.selection import select
from judge_tui.judging.workspace import Workspace

Cli = Callable[..., Any]


class Runner:
    """Stands in for the engine: gives the verdicts that it is told to give."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.verdicts: Sequence[Verdict] = (Verdict.PASS,)
        self.names: Sequence[str] = ()
        self.end: BaseException | None = None
        self.summary = "relative error 3.1e-07 (limit 1e-05)"
        self.error: Exception | None = None

    def __call__(self, request: Request, cancel: object = None) -> Iterator[Event]:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        names = self.names or [f"check_{at}" for at in range(len(self.verdicts))]
        models = [each.model for each in request.submissions]
        yield Planned(request.task, tuple(PlannedCheck(m, name, name, "") for m in models for name in names))
        yield Ready("cpu", "a device", "full", request.seed or 7)
        for model in models:
            for name, verdict in zip(names, self.verdicts, strict=True):
                yield Started(model, request.task, name)
                evidence = (Evidence("dx \x00", 0.5, 0.1, file="a.py", line=3, output="\x1b[31m red"),)
                yield Finished(
                    Outcome(model, request.task, name, verdict, self.summary, 0.25, evidence, seed=7)
                )
        if self.end is not None:
            raise self.end
        yield Done(1.0)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    runner = Runner()
    monkeypatch.setattr("judge_tui.checks.runner.run", runner)
    return runner


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([Verdict.PASS], 0),
        ([Verdict.WARN, Verdict.SKIP, Verdict.UNBOUND, Verdict.AMBIGUOUS], 0),
        ([Verdict.PASS, Verdict.FAIL], 1),
        ([Verdict.FAIL, Verdict.ERROR], 3),
    ],
)
def test_the_exit_code_is_that_of_the_worst_verdict(
    cli: Cli, root: Path, runner: Runner, verdicts: list[Verdict], code: int
) -> None:
    runner.verdicts = verdicts
    assert cli("check", "glm5", "--task", "kv").code == code
    assert cli("check", "glm5", "--task", "kv", "--format", "json").code == code


@pytest.mark.parametrize(
    ("names", "verdicts", "code"),
    [
        (["incremental_equals_full"], [Verdict.UNBOUND], 4),
        (["incremental_equals_full", "isolation"], [Verdict.SKIP, Verdict.UNBOUND], 4),
        (["incremental_equals_full", "capacity"], [Verdict.UNBOUND, Verdict.PASS], 4),
        (["incremental_equals_full"], [Verdict.WARN], 0),
        # a check of something else says nothing about the answers, an optional one is not asked for
        (["growth", "sharing"], [Verdict.SKIP, Verdict.UNBOUND], 0),
        (["incremental_equals_full", "growth"], [Verdict.UNBOUND, Verdict.FAIL], 1),
        (["incremental_equals_full", "growth"], [Verdict.UNBOUND, Verdict.ERROR], 3),
    ],
)
def test_what_is_required_and_was_not_judged_has_an_exit_code_of_its_own(
    cli: Cli, root: Path, runner: Runner, names: list[str], verdicts: list[Verdict], code: int
) -> None:
    runner.names, runner.verdicts = names, verdicts
    told = cli("check", "glm5", "--task", "kv")
    assert told.code == code
    assert ("kv/glm5: attention over the cache was not judged." in told.err) == (
        Verdict.UNBOUND in verdicts and "incremental_equals_full" in names
    )
    assert cli("check", "glm5", "--task", "kv", "--allow-unjudged").code == (0 if code == 4 else code)


def test_where_there_is_no_submission_nothing_was_required(cli: Cli, root: Path, runner: Runner) -> None:
    runner.names, runner.verdicts = ["incremental_equals_full"], [Verdict.SKIP]
    runner.summary = "no submission: the folder is missing or empty"
    assert cli("check", "glm5", "--task", "kv").code == 0


def test_json_lines_are_a_head_and_an_outcome_each(cli: Cli, root: Path, runner: Runner) -> None:
    runner.verdicts = [Verdict.PASS, Verdict.FAIL]
    head, *lines = map(json.loads, cli("check", "glm5", "--task", "kv", "--format", "jsonl").out.splitlines())
    assert head["schema"] == 1
    assert (head["backend"], head["sandbox"], head["seed"]) == ("cpu", "full", 7)
    assert [msgspec.convert(line, Outcome).verdict for line in lines] == [Verdict.PASS, Verdict.FAIL]


@pytest.mark.parametrize(
    ("end", "words"), [(KeyboardInterrupt(), "interrupted"), (SystemExit(143), "terminated")]
)
def test_a_run_that_ends_early_leaves_a_whole_document_that_says_so(
    cli: Cli,
    root: Path,
    runner: Runner,
    capsys: pytest.CaptureFixture[str],
    end: BaseException,
    words: str,
) -> None:
    runner.end = end

    def told(form: str) -> str:
        with suppress(SystemExit):
            return str(cli("check", "glm5", "--task", "kv", "--format", form).out)
        return capsys.readouterr().out

    report = msgspec.json.decode(told("json"), type=Report)
    assert (len(report.outcomes), report.ended) == (1, words)
    assert json.loads(told("jsonl").splitlines()[-1]) == {"ended": words}
    ended = Xml.fromstring(told("junit")).find("testsuite/properties/property[@name='ended']")
    assert ended is not None
    assert ended.get("value") == words


def test_text_has_a_row_per_outcome_with_the_number_that_decided(
    cli: Cli, root: Path, runner: Runner
) -> None:
    runner.verdicts = [Verdict.PASS, Verdict.FAIL]
    out = cli("check", "glm5", "qwen36", "--task", "kv").out
    told = out.splitlines()
    assert told[0] == "kv"
    assert told[1].split()[:3] == ["pass", "glm5", "check_0"]
    assert all("3.1e-07" in line for line in told[1:5])
    assert len({line.index("relative") for line in told[1:5]}) == 1
    assert told[5] == "kv: 2 pass, 2 fail · cpu a device, sandbox full, seed 7 · 1.0 s"


def test_json_is_one_report_that_reads_back(cli: Cli, root: Path, runner: Runner) -> None:
    out = cli("check", "--all", "--format", "json", "--seed", "11").out
    report = msgspec.json.decode(out, type=Report)
    assert (report.schema, report.backend, report.sandbox, report.seed) == (1, "cpu", "full", 11)
    assert report.tool.startswith("judge-tui ")
    assert [(o.task, o.model) for o in report.outcomes] == [
        ("backwards", "glm5"),
        ("kv", "glm5"),
        ("kv", "qwen36"),
    ]
    assert json.loads(out)["outcomes"][0]["evidence"][0]["limit"] == 0.1


def test_junit_is_well_formed_whatever_a_submission_printed(cli: Cli, root: Path, runner: Runner) -> None:
    runner.verdicts = list(Verdict)
    suites = Xml.fromstring(cli("check", "glm5", "--task", "kv", "--format", "junit").out)
    suite = suites.find("testsuite")
    assert suite is not None
    counted = [suite.get(key) for key in ("name", "tests", "failures", "errors", "skipped")]
    assert counted == ["kv.glm5", "7", "1", "1", "2"]
    assert len(suite.findall("testcase/system-out")) == 3


def test_what_a_submission_says_never_reaches_the_terminal_raw(cli: Cli, root: Path, runner: Runner) -> None:
    runner.summary = "raised X: \x1b]0;title\x07 \u202e"
    out = cli("check", "glm5", "--task", "kv").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "␛]0;title␇ ⟦U+202E⟧" in out


def test_settings_reach_the_engine(cli: Cli, root: Path, runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    options = ["--seed", "5", "--fresh", "--trust", "--jobs", "2", "--backend", "cpu"]
    cli("check", "glm5", "--task", "kv", *options, "--bindings", tmp_path / "b")
    request = runner.requests[0]
    assert (request.seed, request.fresh, request.trust, request.jobs, request.backend) == (
        5,
        True,
        True,
        2,
        "cpu",
    )
    own = root / "bindings" / "glm5" / "kv"
    assert request.submissions[0].overlays == (str(tmp_path / "b" / "glm5" / "kv"), str(own))
    assert request.submissions[0].path == str(root / "submissions" / "glm5" / "kv")


def test_fresh_runs_of_several_tasks_share_one_seed(cli: Cli, root: Path, runner: Runner) -> None:
    cli("check", "--all", "--fresh")
    assert len(runner.requests) == 2
    assert len({request.seed for request in runner.requests}) == 1
    assert runner.requests[0].seed is not None


def test_a_tree_anywhere_is_checked_without_a_workspace_and_left_as_it_is(
    cli: Cli, runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    (tree / "scores" / "kv").mkdir(parents=True)
    (tree / "scores" / "kv" / "a.py").write_text("pass\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert cli("check", "--submissions", tree, "--all").code == 0
    assert [each.model for each in runner.requests[0].submissions] == ["scores"]
    assert sorted(p.name for p in tree.rglob("*")) == ["a.py", "kv", "scores"]
    assert cli("check", "--submissions", tmp_path / "absent", "--all").code == 2


def test_models_and_tasks_that_are_both_named_make_a_full_matrix(root: Path) -> None:
    workspace = Workspace.find(root)

    def shape(models: list[str], tasks: list[str]) -> dict[str, list[str]]:
        found = select(workspace, models, tasks)
        return {task: [each.model for each in members] for task, members in found.tasks.items()}

    assert shape(["glm5", "qwen"], ["backwards"]) == {"backwards": ["glm5", "qwen36"]}
    assert shape([], ["backwards"]) == {"backwards": ["glm5"]}
    assert shape(["glm5"], []) == {"backwards": ["glm5"], "kv": ["glm5"]}
    assert shape([], []) == {"backwards": ["glm5"], "kv": ["glm5", "qwen36"]}


def test_a_task_that_cannot_be_judged_is_left_out_and_told(root: Path) -> None:
    (root / "submissions/glm5/chess").mkdir()
    (root / "submissions/glm5/chess/a.py").write_text("x = 1\n")
    workspace = Workspace.find(root)
    assert "chess" in select(workspace, [], []).challenges
    (root / "challenges/chess").mkdir(parents=True)
    (root / "challenges/chess/challenge.toml").write_text("title = 3\n")
    found = select(workspace, [], [])
    assert list(found.tasks) == ["backwards", "kv"]
    assert "challenge.toml:1: 'title' must be a text" in found.warnings[0]
    assert "1 submission of chess left out" in found.warnings[0]
    with pytest.raises(WorkspaceError, match="must be a text"):
        select(workspace, [], ["chess"])
    with pytest.raises(UsageError, match="no submission"):
        select(workspace, [], ["dflash_verify"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what to check"),
        (["gwen"], "Did you mean qwen36?"),
        (["glm5", "--task", "chess"], "no task 'chess'"),
        (["glm5", "--jobs", "-1"], "jobs"),
        (["glm5", "--seed", "x"], "seed"),
    ],
)
def test_a_request_that_is_off_is_code_2(
    cli: Cli, root: Path, runner: Runner, arguments: list[str], words: str
) -> None:
    ended = cli("check", *arguments)
    assert ended.code == 2
    assert words in ended.err
    assert not runner.requests


def test_an_engine_that_breaks_is_code_3_and_no_traceback(cli: Cli, root: Path, runner: Runner) -> None:
    runner.error = ValueError("odd")
    ended = cli("check", "glm5", "--task", "kv")
    assert ended.code == 3
    assert "Traceback" not in ended.err
    runner.error = UsageError("too weak", hint="Say --trust.")
    assert cli("check", "glm5", "--task", "kv").code == 2
