"""A task from elsewhere is listed and judged with; a broken one stops no other; the guide says what is so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judge_tui.checks.submission import Submission
from judge_tui.judging.rubric import load_rubric

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "rms_norm"
GUIDE = Path(__file__).parents[2] / "docs" / "writing-a-task.md"
MUTANTS = sorted((EXAMPLE / "mutants").glob("*.py"))
TWINS = sorted((EXAMPLE / "twins").glob("*.py"))
PIP = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages that the example is installed into, as from a disk."""
    source, target = tmp_path_factory.mktemp("source") / "rms_norm", tmp_path_factory.mktemp("site")
    shutil.copytree(EXAMPLE, source)
    command = [sys.executable, "-m", *PIP, "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def outside(site: Path, *command: str, text: str = "", cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a module in a process of its own that sees the installed packages."""
    env = {**os.environ, "PYTHONPATH": str(site), "JUDGE_TUI_CACHE": str(cache)}
    return subprocess.run(
        [sys.executable, "-m", *command], input=text, env=env, capture_output=True, text=True, check=False
    )


def tree(folder: Path) -> Path:
    """Every mutant and twin as the submission of a model."""
    for file in (*MUTANTS, *TWINS):
        place = folder / file.stem.replace("_", "-") / "rms_norm"
        place.mkdir(parents=True)
        shutil.copy(file, place)
    return folder


def offered(site: Path, distribution: str, module: str, text: str, points: str) -> None:
    """A distribution as an installer leaves it: a module and its metadata."""
    (site / f"{module}.py").write_text(text)
    info = site / f"{distribution.replace('-', '_')}-0.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.3\n")
    (info / "entry_points.txt").write_text(f"[judge_tui.tasks]\n{points}\n")


def test_it_is_listed_with_its_checks_and_where_it_comes_from(site: Path, tmp_path: Path) -> None:
    done = outside(site, "judge_tui.cli", "tasks", "--format", "json", cache=tmp_path)
    assert done.returncode == 0, done.stderr
    listed = {task["task"]: task for task in json.loads(done.stdout)["tasks"]}
    assert {"backwards", "beam_search", "flash_attention", "kv", "rms_norm"} <= set(listed)
    ours = listed["rms_norm"]
    assert ours["distribution"] == "judge-tui-rms-norm 1.0"
    assert listed["kv"]["distribution"].startswith("judge-tui ")
    checks = [check["check"] for check in ours["checks"]]
    assert {"loads", "size", "purity", "own_tests"} <= set(checks)
    assert checks[3:5] == ["values", "gradients"]
    assert all(check["establishes"] for check in ours["checks"])
    text = outside(site, "judge_tui.cli", "tasks", cache=tmp_path).stdout
    assert "rms_norm  RMS normalisation  (judge-tui-rms-norm 1.0)" in text


def test_check_judges_right_and_wrong_submissions_with_it(site: Path, tmp_path: Path) -> None:
    folder = tree(tmp_path / "submissions")
    options = ["--submissions", str(folder), "--task", "rms_norm", "--format", "json", "--trust"]
    checks = ["--check", "values", "--check", "gradients", "--check", "purity"]
    done = outside(site, "judge_tui.cli", "check", *options, *checks, cache=tmp_path / "cache")
    assert done.returncode == 1, done.stderr
    verdicts: dict[str, set[str]] = {}
    for outcome in json.loads(done.stdout)["outcomes"]:
        verdicts.setdefault(outcome["model"], set()).add(outcome["verdict"])
    for file in MUTANTS:
        assert "fail" in verdicts[file.stem.replace("_", "-")], file.stem
    for file in TWINS:
        assert verdicts[file.stem.replace("_", "-")] == {"pass"}, file.stem


def test_the_engine_as_a_process_of_its_own_sees_it(site: Path, tmp_path: Path) -> None:
    folder = tree(tmp_path / "submissions")
    asked = [
        {"model": name, "path": str(folder / name / "rms_norm")} for name in ("functions", "eps-outside")
    ]
    request = {"task": "rms_norm", "submissions": asked, "checks": ["values"], "seed": 5, "trust": True}
    env = {**os.environ, "PYTHONPATH": str(site), "JUDGE_TUI_CACHE": str(tmp_path / "cache")}
    engine = [sys.executable, "-m", "judge_tui.checks.engine"]
    with subprocess.Popen(
        engine, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(json.dumps(request) + "\n")
        running.stdin.flush()
        # The end of its input would cancel the run.
        events = [json.loads(line) for line in running.stdout]
    assert running.returncode == 0
    found = {e["outcome"]["model"]: e["outcome"]["verdict"] for e in events if "outcome" in e}
    assert found == {"functions": "pass", "eps-outside": "fail"}


def test_a_broken_plug_in_is_one_line_and_stops_no_other(site: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(site, broken)
    offered(broken, "raising", "raising", "raise ValueError('no luck')\n", "unlucky = raising:TASK")
    offered(broken, "leaving", "leaving", "raise SystemExit(0)\n", "leaving = leaving:TASK")
    offered(broken, "absent", "absent", "", "absent = absent:TASK")
    offered(broken, "other", "other", "TASK = 3\n", "three = other:TASK")
    text = "from rms_norm_task import TASK\n"
    offered(broken, "a-thief", "thief", text, "kv = thief:TASK\nrenamed = thief:TASK")
    done = outside(broken, "judge_tui.cli", "tasks", cache=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("✗")]
    assert lines == [
        "✗ absent  (absent 0.3)  task 'absent' cannot be imported: AttributeError: module 'absent' has no "
        "attribute 'TASK'",
        f"✗ kv  (a-thief 0.3)  the name is taken by {own(done.stdout)}",
        "✗ leaving  (leaving 0.3)  task 'leaving' cannot be imported: SystemExit: 0",
        "✗ renamed  (a-thief 0.3)  task 'renamed' calls itself 'rms_norm'",
        "✗ three  (other 0.3)  task 'three' offers a int instead of a Task",
        "✗ unlucky  (raising 0.3)  task 'unlucky' cannot be imported: ValueError: no luck",
    ]
    assert "rms_norm  RMS normalisation  (judge-tui-rms-norm 1.0)" in done.stdout
    assert "backwards  Layer-norm backward" in done.stdout
    folder = tree(tmp_path / "submissions")
    options = ["--submissions", str(folder), "--task", "rms_norm", "--check", "values", "--trust"]
    done = outside(broken, "judge_tui.cli", "check", "functions", *options, cache=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    for task in ("unlucky", "leaving"):
        (folder / "functions" / task).mkdir()
        (folder / "functions" / task / "code.py").write_text("x = 1\n")
    options = ["--submissions", str(folder), "--all", "--check", "values", "--format", "json", "--trust"]
    done = outside(broken, "judge_tui.cli", "check", *options, cache=tmp_path / "cache")
    assert done.returncode == 3
    assert "task 'unlucky' cannot be imported: ValueError: no luck: 1 submission left out." in done.stderr
    assert "task 'leaving' cannot be imported: SystemExit: 0: 1 submission left out." in done.stderr
    assert len(json.loads(done.stdout)["outcomes"]) == len(MUTANTS) + len(TWINS)


def own(text: str) -> str:
    """Name and version of this program, as the list tells them."""
    found = re.search(r"^kv .*\((judge-tui [^)]+)\)$", text, re.M)
    assert found is not None
    return found[1]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)\n```$", GUIDE.read_text(), re.M | re.S)


def code_lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_the_guide_quotes_the_module_that_is_tested_whole_and_in_order() -> None:
    module = (EXAMPLE / "rms_norm_task.py").read_text()
    *quoted, usage = blocks("python")
    assert code_lines("\n".join(quoted)) == code_lines(module)
    assert len(code_lines(module)) < 100
    assert f"one module of {len(code_lines(module))} lines of code" in GUIDE.read_text()
    assert "judge(TASK" in usage


def test_the_guide_quotes_the_package_and_the_rubric_and_the_rubric_is_one() -> None:
    package, rubric = blocks("toml")
    assert package == (EXAMPLE / "pyproject.toml").read_text().strip()
    assert rubric == (EXAMPLE / "rms_norm.toml").read_text().strip()
    read = load_rubric(EXAMPLE / "rms_norm.toml")
    assert read.task == "rms_norm"
    assert {"values", "gradients"} <= {check for d in read.dimensions for check in d.checks}


@pytest.mark.parametrize("file", MUTANTS + TWINS, ids=lambda file: f"{file.parent.name}-{file.stem}")
@pytest.mark.parametrize("seed", [3, 11])
def test_verdicts_of_the_example_do_not_depend_on_the_seed(
    file: Path, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge_tui.checks.runner import judge

    monkeypatch.syspath_prepend(str(EXAMPLE))
    from rms_norm_task import TASK  # type: ignore[import-not-found]

    folder = tmp_path / "somebody" / "rms_norm"
    folder.mkdir(parents=True)
    shutil.copy(file, folder)
    outcomes = judge(TASK, Submission.at(folder), seed=seed, checks=["values", "gradients"])
    failed = {check for check, outcome in outcomes.items() if outcome.verdict == "fail"}
    assert bool(failed) == (file.parent.name == "mutants"), outcomes
    assert {outcome.verdict for outcome in outcomes.values()} <= {"pass", "fail"}
