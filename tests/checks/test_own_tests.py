"""What a submission's own tests are told to be, with pytest in the sandbox and without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome

TWINS = Path(__file__).parent / "generic" / "twins"
CODE = """
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}
"""
TESTS = """
import pytest
from code_ import scale_forward


@pytest.fixture
def factor():
    return 3.0


def test_fixture(factor):
    assert scale_forward(2.0, factor)[0] == 6.0


@pytest.mark.parametrize("x", [1.0, 2.0])
def test_listed(x):
    assert scale_forward(x, 2.0)[0] == 2.0 * x
"""
Submit = Callable[..., Submission]


def own(task: Task, submission: Submission) -> Outcome:
    return judge(task, submission, seed=1, checks=["own_tests"])["own_tests"]


@pytest.fixture
def without_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers whose environment has no pytest."""
    ask = Worker.ask

    def refused(self: Worker, op: str, **body: Any) -> Mapping[str, Any]:
        error = {"type": "ModuleNotFoundError", "message": "No module named 'pytest'"}
        return {"without": error} if op == "collect" else ask(self, op, **body)

    monkeypatch.setattr(Worker, "ask", refused)


def test_a_failed_assertion_tells_what_was_compared_and_where(scale: Task, submitted: Submit) -> None:
    failing = TESTS.replace("== 6.0", "== 5.0")
    outcome = own(scale, submitted({"code_.py": CODE, "tests/test_it.py": failing}))
    (wrong,) = [evidence for evidence in outcome.evidence if evidence.ok is False]
    assert outcome.verdict == "fail"
    assert wrong.quantity == "tests/test_it.py: test_fixture"
    assert wrong.measured == "raised AssertionError: assert 6.0 == 5.0"
    assert (wrong.file, wrong.line) == (
        "tests/test_it.py",
        failing.split("\n").index("    assert scale_forward(2.0, factor)[0] == 5.0") + 1,
    )
    assert "_pytest" not in wrong.output


def test_passing_tests_point_at_their_functions(scale: Task, submitted: Submit) -> None:
    outcome = own(scale, submitted({"code_.py": CODE, "test_it.py": TESTS}))
    told = {evidence.quantity: (evidence.file, evidence.line) for evidence in outcome.evidence}
    lines = TESTS.split("\n")
    assert told["test_it.py: test_listed[1.0]"] == ("test_it.py", lines.index("def test_listed(x):") + 1)
    assert told["test_it.py: test_fixture"] == ("test_it.py", lines.index("def test_fixture(factor):") + 1)


@pytest.mark.usefixtures("without_pytest")
def test_without_pytest_a_fixture_is_not_run_and_decides_nothing(scale: Task, submitted: Submit) -> None:
    outcome = own(scale, submitted({"code_.py": CODE, "test_it.py": TESTS}))
    assert outcome.verdict == "pass"
    assert outcome.summary.startswith("3 tests: 2 passed, 1 not run in ")


@pytest.mark.usefixtures("without_pytest")
def test_without_pytest_nothing_but_fixtures_is_a_skip_with_its_reason(
    scale: Task, submitted: Submit
) -> None:
    only = TESTS[: TESTS.index("@pytest.mark.parametrize")]
    outcome = own(scale, submitted({"code_.py": CODE, "test_it.py": only}))
    assert outcome.verdict == "skip"
    assert "needs the fixture 'factor', and pytest is not installed" in outcome.summary


@pytest.mark.usefixtures("without_pytest")
def test_without_pytest_a_wrong_test_fails(scale: Task, submitted: Submit) -> None:
    outcome = own(scale, submitted({"code_.py": CODE, "test_it.py": TESTS.replace("== 2.0 * x", "== 2.0")}))
    assert outcome.verdict == "fail"
    assert outcome.summary.startswith("3 tests: 1 passed, 1 failed, 1 not run in ")


def test_what_a_script_writes_does_not_reach_the_submission(scale: Task, submitted: Submit) -> None:
    script = (
        'if __name__ == "__main__":\n    open(__file__, "a").write("# again")\n    open("log.txt", "w")\n'
    )
    submission = submitted({"code_.py": CODE, "train.py": script})
    before = {path: path.read_bytes() for path in submission.path.rglob("*")}
    assert own(scale, submission).verdict == "pass"
    assert {path: path.read_bytes() for path in submission.path.rglob("*")} == before


@pytest.mark.parametrize(
    "conftest",
    [
        "def pytest_runtest_protocol(item, nextitem):\n    raise RuntimeError('mine')\n",
        "def pytest_sessionstart(session):\n    raise RuntimeError('mine')\n",
        "import _pytest.runner\n_pytest.runner.call_and_report = None\n",
        "def pytest_collection_modifyitems(items):\n    items[:] = [None, 3]\n",
        "import os\n\n\ndef pytest_configure(config):\n    os._exit(0)\n",
        "import pytest\npytest.exit('all is well', returncode=0)\n",
    ],
)
def test_one_that_breaks_pytest_is_no_fault_of_the_engine_and_no_pass(
    scale: Task, submitted: Submit, conftest: str
) -> None:
    outcome = own(scale, submitted({"code_.py": CODE, "test_it.py": TESTS, "conftest.py": conftest}))
    assert outcome.verdict == "fail"


def test_a_script_that_wants_arguments_is_skipped(scale: Task, submitted: Submit) -> None:
    script = (
        "import argparse\n\nif __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('model')\n    parser.parse_args()\n"
    )
    outcome = own(scale, submitted({"code_.py": CODE, "demo.py": script}))
    assert outcome.verdict == "skip"
    assert "it wants arguments on its command line" in outcome.summary


@pytest.mark.usefixtures("without_pytest")
@pytest.mark.parametrize("twin", ["suite", "layout_of_a_project", "exits_after_its_tests"])
def test_without_pytest_right_code_does_not_fail(scale: Task, submitted: Submit, twin: str) -> None:
    folder = TWINS / twin
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.py")}
    assert own(scale, submitted(files)).verdict == "pass"
