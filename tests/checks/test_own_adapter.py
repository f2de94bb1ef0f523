"""What lies in a submission's folder is the submission's: an adapter there is shown, measured and told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge_tui.checks.own_adapter import beyond_calling
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Verdict

Submit = Callable[..., Submission]
ZEROS = "import numpy as np\n\ndef work(x, f):\n    return np.zeros_like(x), (x, f)\n"
RIGHT = "def work(x, f):\n    return x * f, (x, f)\n\ndef back(dy, kept):\n    x, f = kept\n"
RIGHT += "    return dy * f, (dy * x).reshape(-1, f.size).sum(0)\n"
ANSWERS = """
from code_ import work

def forward(x, factor):
    work(x, factor)
    return x ** 1 * factor, (x, factor)

def backward(dy, cache):
    x, factor = cache
    return dy ** 1 * factor, (dy * x).sum((0, 1))
"""
CALLS = """
import numpy as np
from code_ import back, work

def forward(x, factor):
    rows = x.size // factor.size
    y, kept = work(np.asarray(x).reshape(rows, -1), factor)
    return y.reshape(x.shape), kept

def backward(dy, cache):
    x, factor = cache
    return back(dy, (x.reshape(dy.shape), factor))
"""


def test_an_adapter_that_holds_the_answer_earns_no_pass(submitted: Submit, scale: Task) -> None:
    submission = submitted({"code_.py": ZEROS, "adapter.py": ANSWERS})
    outcome = judge(scale, submission, seed=1, checks=["right"])["right"]
    assert outcome.verdict is Verdict.WARN
    assert "adapter.py:6 does more than call" in outcome.summary
    assert any(item.quantity == "called through" and item.file == "adapter.py" for item in outcome.evidence)


def test_an_adapter_that_calls_is_told_and_no_more(submitted: Submit, scale: Task) -> None:
    submission = submitted({"code_.py": RIGHT, "adapter.py": CALLS})
    outcome = judge(scale, submission, seed=1, checks=["right"])["right"]
    assert outcome.verdict is Verdict.PASS
    told = next(item for item in outcome.evidence if item.quantity == "called through")
    assert told.measured == "the submission's own adapter.py"


def test_the_judges_adapter_is_no_part_of_the_submission(
    submitted: Submit, scale: Task, tmp_path: Path
) -> None:
    submission = submitted({"code_.py": RIGHT})
    folder = tmp_path / "bindings" / submission.model / submission.task
    folder.mkdir(parents=True)
    (folder / "adapter.py").write_text(CALLS)
    judged = Submission.at(submission.path, bindings=tmp_path / "bindings")
    outcome = judge(scale, judged, seed=1, checks=["right"])["right"]
    assert outcome.verdict is Verdict.PASS
    told = next(item for item in outcome.evidence if item.quantity == "called through")
    assert (told.measured, told.file) == ("the judge's adapter.py", None)
    assert judged.files == ("code_.py",)


def test_an_own_adapter_is_listed_digested_measured_and_scanned(submitted: Submit, scale: Task) -> None:
    plain = submitted({"code_.py": RIGHT}).digest
    submission = submitted({"code_.py": RIGHT, "adapter.py": CALLS + "\nimport torch\ntorch.ones(1)\n"})
    assert submission.files == ("adapter.py", "code_.py")
    assert Submission.at(submission.path).digest != plain
    outcomes = judge(scale, submission, seed=1, checks=["loads", "size"])
    assert outcomes["loads"].verdict is Verdict.FAIL
    line = CALLS.count("\n") + 2
    found = {item.quantity: (item.file, item.line) for item in outcomes["loads"].evidence if item.ok is False}
    assert found == {"no torch": ("adapter.py", line), "adapter.py imports": ("adapter.py", line + 1)}
    assert "2 files" in outcomes["size"].summary


@pytest.mark.parametrize(
    "line",
    ["y = x @ w", "y = np.matmul(x, w)", "y = x ** 0.5", "y = np.exp(x)", "y = x / n", "x /= n",
     "y = [a * b for a, b in zip(x, w)]", "y = np.linalg.norm(x)", "y = root(x)", "y = x * w",
     "y = x.__mul__(w)", "y = x.dot(w)", "from numpy import *", "m = np; y = m.exp(x)",
     "y = getattr(np, 'exp')(x)", "exec(w)", "x.work = w", "y = sum(x)"],
)  # fmt: skip
def test_what_computes_is_found(line: str) -> None:
    head = "import numpy as np\nfrom math import sqrt as root\n\ndef forward(x, w, n):\n"
    source = f"{head}    {line}\n    return y\n"
    found = beyond_calling(source.encode())
    assert found is not None
    assert found[0] == 5


@pytest.mark.parametrize("source", [b"def f(:\n", b"x = 1" + b"\n#" + b"y" * (5 << 20)])
def test_what_cannot_be_read_may_compute(source: bytes) -> None:
    assert beyond_calling(source) == (1, "it cannot be read")


@pytest.mark.parametrize(
    "line",
    ["y = f(x.astype(np.float32), w.T)", "y = np.moveaxis(np.asarray(x), 1, 2)", "y = f(n // 2, n - 1)",
     "y = [f(x[i + 1]) for i in range(n)]", "y = np.zeros((n, 3), np.float32)", "y = x.swapaxes(0, 1).copy()",
     "b, t = x.shape; y = Config(dim=b * t)", "y: np.ndarray | None = f(x)", "y = [*x, *w]",
     "out = []; out += [f(x)]", "y = np.concatenate([f(x), w])"],
)  # fmt: skip
def test_what_only_hands_on_is_not_taken_for_computing(line: str) -> None:
    source = f"import numpy as np\n\ndef forward(x, w, n, heads):\n    {line}\n    return y\n"
    assert beyond_calling(source.encode()) is None
