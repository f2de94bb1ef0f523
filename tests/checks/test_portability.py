"""Verdicts on a GPU of code written for NumPy, on a strict double of CuPy: nothing here runs on a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.backends import Device, Place
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.faults import Skipped
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome

Submit = Callable[..., Submission]
DOUBLES = Path(__file__).parent / "doubles"
PLACE = Place("gpu", Device("0", "a double"), "strict_cupy")

RIGHT = """
import numpy as np

def scale(x, factor):
    return x * factor, (x, factor)

def scale_backward(dy, cache):
    x, factor = cache
    return dy * factor, np.sum(dy * x, axis=0)
"""


@pytest.fixture(autouse=True)
def _double(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOUBLES))


@pytest.fixture
def portable(scale: Task) -> Task:
    return replace(scale, backends=("gpu", "cpu"))


def judged(task: Task, submission: Submission, check: str = "right") -> Outcome:
    return judge(task, submission, seed=1, checks=[check], place=PLACE)[check]


def test_right_code_passes_and_says_where(portable: Task, submitted: Submit) -> None:
    outcome = judged(portable, submitted(RIGHT))
    assert (outcome.verdict, outcome.backend, outcome.device) == ("pass", "gpu", "a double")


def test_wrong_code_fails_on_both(portable: Task, submitted: Submit) -> None:
    outcome = judged(portable, submitted(RIGHT.replace("return x * factor,", "return x + factor,")))
    assert outcome.verdict == "fail"
    assert [e.measured for e in outcome.evidence if e.quantity == "the same check on the CPU"] == ["fail"]


LACKING = """
import numpy as np

def scale(x, factor):
    y = np.insert(x * factor, 0, 0.0, axis=0)
    return y[1:], (x, factor)
"""


def test_what_cupy_lacks_is_told_with_its_line_and_is_no_fail(portable: Task, submitted: Submit) -> None:
    outcome = judged(portable, submitted(LACKING))
    assert (outcome.verdict, outcome.summary) == (
        "skip",
        "not portable to the GPU: np.insert at code.py:5",
    )
    assert outcome.location == ("code.py", 5)
    assert "Traceback" not in outcome.summary


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("y = np.asarray(list(map(list, x))) * factor", ""),
        ("y = {x[0, 0]: x * factor}[x[0, 0]]", "unhashable"),
        ("y = np.zeros(x.shape); y[:, [0, 1, 2, 3][x[0].argmax() * 0]] = 1; y = x * factor", "list indices"),
        ("y = np.vectorize(lambda a, b: a * b)(x, factor)", "np.vectorize"),
        ("np.seterr(invalid='raise'); y = x * factor", "np.seterr(invalid='raise')"),
        ("assert isinstance(x.sum(), np.floating); y = x * factor", "AssertionError"),
    ],
)
def test_right_code_that_leans_on_numpy_is_never_failed(
    line: str, told: str, portable: Task, submitted: Submit
) -> None:
    source = f"import numpy as np\n\ndef scale(x, factor):\n    {line}\n    return y, (x, factor)\n"
    outcome = judged(portable, submitted(source))
    assert outcome.verdict == ("skip" if told else "pass")
    if told:
        assert outcome.summary.startswith("not portable to the GPU: ")
        assert told in outcome.summary
        assert outcome.summary.endswith("code.py:4")


def test_a_refusal_that_a_check_takes_for_an_answer_is_still_told(
    portable: Task, submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge_tui.checks.faults import Fault

    def refuses(bench: Bench, found: Findings) -> str:
        """A check that asks for an error, as those of capacity do."""
        sample = bench.contract.sample(bench.rng("sample"))
        try:
            bench.call("forward", {**sample.inputs, "factor": np.full(4, 77.0)})
        except Fault:
            found.claim("an error is raised", True)
            return "raises"
        found.claim("an error is raised", False)
        return "does not raise"

    check = Check("refuses", "refuses", "It raises.", refuses)
    task = replace(portable, checks=(check,))
    raises = LACKING.replace("    return", "    assert (factor != 77).all()\n    return")
    assert judged(task, submitted(raises, model="raises"), "refuses").verdict == "skip"
    # on the CPU nothing is refused, and no error comes
    assert judged(task, submitted(LACKING), "refuses").verdict == "fail"
    outcome = judged(task, submitted(RIGHT), "refuses")
    assert (outcome.verdict, outcome.backend) == ("fail", "gpu")


@pytest.mark.parametrize(
    "pretext",
    [
        "raise TypeError('Unsupported type <class numpy.ndarray>')",
        "raise TypeError('Implicit conversion to a NumPy array is not allowed')",
        "np.insert(x, 0, 0.0, axis=0)",
    ],
)
def test_a_refusal_excuses_nothing_that_the_cpu_convicts_of(
    pretext: str, portable: Task, submitted: Submit
) -> None:
    body = f"    if 'strict_cupy' in sys.modules:\n        {pretext}\n    return x + factor, (x, factor)\n"
    wrong = f"import sys\nimport numpy as np\n\ndef scale(x, factor):\n{body}"
    outcome = judged(portable, submitted(wrong))
    assert (outcome.verdict, outcome.backend) == ("fail", "gpu")
    assert outcome.summary.startswith("fail on the CPU: ")
    assert [e.measured for e in outcome.evidence if e.quantity == "the same check on the GPU"] == ["skip"]


def skips_on_equal_factors(bench: Bench, found: Findings) -> str:
    """A check that has nothing to say of some submissions, and fails where one raises."""
    sample = bench.contract.sample(bench.rng("sample"))
    y = bench.call("forward", {**sample.inputs, "factor": np.ones(4)}).array("y", (3, 4))
    if (y == sample.inputs["x"]).all():
        raise Skipped("there is nothing to see")
    found.claim("other than x", False)
    return "other than x"


@pytest.mark.parametrize(
    ("line", "verdict", "told"),
    [
        ("x = x.copy(); x.setflags(write=False)", "skip", "not portable to the GPU: raised AttributeError"),
        ("x = x + ('strict_cupy' in sys.modules)", "warn", "skip on the CPU, and otherwise on the GPU"),
    ],
)
def test_what_the_cpu_has_nothing_to_say_of_is_no_fail_on_the_gpu(
    line: str, verdict: str, told: str, portable: Task, submitted: Submit
) -> None:
    check = Check("skips", "skips", "It skips.", skips_on_equal_factors)
    source = f"import sys\n\ndef scale(x, factor):\n    {line}\n    return x * factor, (x, factor)\n"
    outcome = judged(replace(portable, checks=(check,)), submitted(source), "skips")
    assert (outcome.verdict, outcome.backend) == (verdict, "gpu")
    assert outcome.summary.startswith(told)


OTHER_NUMBERS = """
import numpy as np

def scale(x, factor):
    if isinstance(x, np.ndarray) and type(x).__module__.startswith("strict"):
        return x + factor, (x, factor)
    return x * factor, (x, factor)
"""


def test_other_numbers_than_on_the_cpu_warn(portable: Task, submitted: Submit) -> None:
    outcome = judged(portable, submitted(OTHER_NUMBERS))
    assert outcome.verdict == "warn"
    assert outcome.summary.startswith("pass on the CPU, and otherwise on the GPU: ")


STICKY = """
import sys

def scale(x, factor):
    if cuda := sys.modules.get("strict_cupy.cuda"):
        cuda.Sticky.said = "cudaErrorIllegalAddress: an illegal memory access"
    return x * factor, (x, factor)
"""


@pytest.mark.parametrize(("backends", "verdict"), [(("gpu", "cpu"), "warn"), (("gpu",), "fail")])
def test_an_error_that_stays_ends_the_worker_and_the_next_one_is_clean(
    portable: Task, submitted: Submit, backends: tuple[str, ...], verdict: str
) -> None:
    task = replace(portable, backends=backends)
    outcome = judged(task, submitted(STICKY, model="sticky"))
    assert outcome.verdict == verdict
    assert "left the GPU in an error: CUDARuntimeError: cudaErrorIllegalAddress" in outcome.summary
    assert judged(portable, submitted(RIGHT, model="right")).verdict == "pass"


ENDLESS = """
import sys

def scale(x, factor):
    if cuda := sys.modules.get("strict_cupy.cuda"):
        cuda.Device.synchronize = lambda self: __import__("time").sleep(3600)
    return x * factor, (x, factor)
"""


def test_work_that_never_ends_is_killed_within_the_budget(portable: Task, submitted: Submit) -> None:
    short = replace(portable, checks=tuple(replace(check, budget=8.0) for check in portable.checks))
    outcome = judged(short, submitted(ENDLESS, model="endless"))
    assert outcome.verdict == "warn"
    assert "used up the time of the check" in outcome.summary or "took longer" in outcome.summary
    assert judged(short, submitted(RIGHT, model="right")).verdict == "pass"


def test_what_is_about_files_and_own_programs_runs_on_the_cpu(portable: Task, submitted: Submit) -> None:
    files = {
        "code.py": RIGHT,
        "test_code.py": "import numpy as np\nfrom code import scale\n\n\ndef test_it():\n"
        "    assert isinstance(np.ones(2).sum(), np.floating)\n",
    }
    for check in ("loads", "size", "own_tests"):
        outcome = judged(portable, submitted(files), check)
        assert (outcome.verdict, outcome.backend) == ("pass", "cpu"), outcome.summary


PEEKS = """
import os

def scale(x, factor):
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-7", os.environ
    return x * factor, (x, factor)
"""


def test_a_worker_sees_the_device_that_it_was_given(portable: Task, submitted: Submit) -> None:
    place = replace(PLACE, device=Device("GPU-7", "a double"))
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    bench_task = replace(portable, backends=("gpu",))
    assert (
        judge(bench_task, submitted(PEEKS), seed=1, checks=["right"], place=place)["right"].verdict == "pass"
    )
    elsewhere = judge(bench_task, submitted(PEEKS), seed=1, checks=["right"], place=PLACE)["right"]
    assert elsewhere.verdict in ("unbound", "fail")
