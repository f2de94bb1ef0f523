"""challenge import gpumode: a folder with task.yml and reference.py becomes a challenge, unedited."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.task import made
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.cli.importing import gpumode as importing
from judge_tui.cli.importing.trial import Trial

Cli = Callable[..., tuple[Any, ...]]

TASK = """
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: task.py, source: task.py}
  - {name: utils.py, source: ../utils.py}
  - {name: reference.py, source: reference.py}
  - {name: eval.py, source: ../eval.py}
lang: py
description: |
  Sums of rows.
tests:
  - {rows: 4, width: 7, seed: 1}
  - {rows: 4, width: 7, seed: 2}
  - {rows: 9, width: 33, seed: 3}
benchmarks:
  - {rows: 64, width: 1024, seed: 4}
"""
REFERENCE = """
from utils import make_match_reference
import numpy as np
from task import input_t, output_t

def ref_kernel(data: input_t) -> output_t:
    x, out = data
    out[...] = x.sum(1)
    return out

def generate_input(rows: int, width: int, seed: int) -> input_t:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, width)).astype(np.float32), np.zeros(rows, np.float32)

check_implementation = make_match_reference(ref_kernel, rtol=1e-4, atol=1e-5)
"""
OWN_CHECK = """
from utils import verbose_allclose

def check_implementation(data, output):
    reasons = verbose_allclose(output, ref_kernel(data), rtol=1e-4, atol=1e-4)
    return (False, "sums mismatch: " + " ".join(reasons)) if reasons else (True, "")
"""
RIGHT = "def custom_kernel(data):\n    x, out = data\n    out[...] = x.sum(-1)\n    return out\n"
WRONG = "def custom_kernel(data):\n    x, out = data\n    return x.sum(-1) * 1.01\n"


@pytest.fixture
def cli(cli: Callable[..., Any]) -> Cli:
    """Runs a command line in this process, and gives its exit status, output and errors."""
    return lambda *arguments: astuple(cli(*arguments))


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    folder = tmp_path / "problems" / "rowsum_py"
    folder.mkdir(parents=True)
    (folder / "task.yml").write_text(TASK)
    (folder / "reference.py").write_text(REFERENCE)
    return folder


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No jail is started: what is tried there is judged by other tests."""
    monkeypatch.setattr(importing, "tried", lambda files, sizes: Trial(untried="it needs torch"))


def judged(root: Path, answer: str, *checks: str) -> Mapping[str, Outcome]:
    folder = root / "submissions" / "m" / "rowsum_py"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "submission.py").write_text(answer)
    task = made(Challenge("rowsum_py", str(root / "challenges" / "rowsum_py")))
    return judge(task, Submission("m", "rowsum_py", folder), seed=1, checks=checks)


def constants(root: Path) -> dict[str, str]:
    tree = ast.parse((root / "challenges" / "rowsum_py" / "challenge.py").read_text())
    return {
        node.targets[0].id: ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def test_a_problem_judges_answers_to_it(cli: Cli, root: Path, problem: Path) -> None:
    code, _out, err = cli("challenge", "import", "gpumode", problem)
    assert code == 0, err
    found = judged(root, "from task import input_t\n\n" + RIGHT, "accuracy", "purity")
    assert found["accuracy"].verdict is Verdict.PASS, found["accuracy"].summary
    # it is asked to write into what it is handed
    assert found["purity"].verdict is Verdict.SKIP
    assert judged(root, WRONG, "accuracy")["accuracy"].verdict is Verdict.FAIL


def test_a_check_of_its_own_decides(cli: Cli, root: Path, problem: Path) -> None:
    text = REFERENCE.partition("check_implementation =")[0]
    (problem / "reference.py").write_text(text + OWN_CHECK)
    assert cli("challenge", "import", "gpumode", problem)[0] == 0
    assert judged(root, RIGHT, "accuracy")["accuracy"].verdict is Verdict.PASS
    wrong = judged(root, WRONG, "accuracy")["accuracy"]
    assert (wrong.verdict, "sums mismatch" in wrong.summary) == (Verdict.FAIL, True)


@pytest.mark.usefixtures("untried")
def test_tests_are_cases_and_benchmarks_are_timed(cli: Cli, root: Path, problem: Path) -> None:
    (problem.parent / "utils.py").write_text("make_match_reference = print\n")
    (problem / "task.py").write_text("input_t = output_t = int\n")
    code, out, _err = cli("challenge", "import", "gpumode", problem)
    assert (code, "it could not be tried: it needs torch." in out) == (0, True)
    made = root / "challenges" / "rowsum_py"
    assert sorted(file.name for file in made.iterdir()) == [
        "challenge.md", "challenge.py", "reference.py", "task.py", "utils.py",
    ]  # fmt: skip
    assert (made / "reference.py").read_text() == REFERENCE
    assert (made / "utils.py").read_text() == "make_match_reference = print\n"
    assert (made / "challenge.md").read_text().startswith("# rowsum\n\nSums of rows.\n")
    found = constants(root)
    assert found["CASES"] == "[dict(rows=4, width=7), dict(rows=9, width=33)]"
    assert found["BENCH"] == "[dict(rows=64, width=1024)]"
    assert (found["TOLERANCE"], found["PURE"]) == ("0.0001", "False")
    assert found["NAMES"] == "['custom_kernel']"


@pytest.mark.usefixtures("untried")
def test_what_of_torch_has_no_gpu_is_made_on_the_cpu(cli: Cli, root: Path, problem: Path) -> None:
    text = REFERENCE.replace("import numpy as np", "import torch").replace("np.float32", "torch.float16")
    (problem / "reference.py").write_text(text)
    assert cli("challenge", "import", "gpumode", problem)[0] == 0
    found = constants(root)
    assert (found["DTYPES"], found["FRAMEWORKS"]) == ("['float16']", "['torch', 'triton', 'cupy']")
    assert "TorchFunctionMode" in (root / "challenges" / "rowsum_py" / "challenge.py").read_text()


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("task.yml", "lang: py", "lang: cu", "task.yml: answers are to be written in 'cu'"),
        ("task.yml", "lang: py", "lang: py\nmulti_gpu: true", "several GPUs at once"),
        ("task.yml", "lang: py", "lang: [", "task.yml:9: is not valid YAML"),
        ("task.yml", "tests:", "others:", "has no tests"),
        ("task.yml", "rows: 4,", "rows: [4],", "'tests' must be a list of sizes"),
        ("task.yml", "../utils.py", "../../../utils.py", "which is no file of the problem"),
        ("task.yml", "../utils.py", "/etc/hosts.py", "which is no file of the problem"),
        ("task.yml", "name: utils.py", "name: ../utils.py", "which is no file of the problem"),
        (
            "task.yml",
            "  - {name: task.py, source: task.py}",
            "  - task.py",
            "'files' must be a list of names",
        ),
        ("reference.py", "def generate_input", "def inputs", "reference.py: has no generate_input"),
        ("reference.py", "def ref_kernel", "def (", "reference.py:6: does not parse"),
        ("reference.py", "np.float32)", "torch.bfloat16)", "reference.py:11: its inputs are of bfloat16"),
    ],
)
def test_what_cannot_be_imported_is_told_in_a_sentence(
    cli: Cli, root: Path, problem: Path, file: str, old: str, new: str, told: str
) -> None:
    text = (problem / file).read_text()
    assert old in text
    (problem / file).write_text(text.replace(old, new))
    code, _out, err = cli("challenge", "import", "gpumode", problem)
    assert (code, told in err, str(problem) in err) == (2, True, True), err
    assert not (root / "challenges").exists()


@pytest.mark.usefixtures("untried")
def test_a_link_is_no_file_of_the_problem(cli: Cli, root: Path, problem: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret = 1\n")
    (problem / "task.py").symlink_to(tmp_path / "secret.py")
    assert cli("challenge", "import", "gpumode", problem)[0] == 0
    assert "secret" not in (root / "challenges" / "rowsum_py" / "task.py").read_text()


@pytest.mark.parametrize("name", ["task.yml", "reference.py"])
def test_a_folder_without_its_files_is_no_problem(cli: Cli, root: Path, problem: Path, name: str) -> None:
    (problem / name).unlink()
    code, _out, err = cli("challenge", "import", "gpumode", problem)
    assert (code, f"it has no {name}" in err) == (2, True)


def test_tests_that_the_reference_cannot_answer_are_left_out(cli: Cli, root: Path, problem: Path) -> None:
    text = REFERENCE.replace("    rng =", "    assert rows < 9, 'too many rows'\n    rng =")
    (problem / "reference.py").write_text(text)
    code, out, _err = cli("challenge", "import", "gpumode", problem)
    assert (code, "1 of 2 tests are left out" in " ".join(out.split())) == (0, True)
    assert "too many rows" in " ".join(out.split())
    assert constants(root)["CASES"] == "[dict(rows=4, width=7)]"
