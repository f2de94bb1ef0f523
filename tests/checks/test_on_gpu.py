"""What only a GPU can show. Every test here is marked ``gpu`` and skipped where there is none."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as real
import pytest

from judge_tui.checks.backends import Place, find
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task
from judge_tui.checks.worker import places
from judge_tui.checks.worker.counters import Counters
from judge_tui.checks.worker.refusals import refused

from .worker.test_device_namespace import PORTABLE, REFUSED, flattened, inputs

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
Submit = Callable[..., Submission]


@pytest.fixture
def place() -> Place:
    return find("gpu").places[0]


@pytest.fixture
def device() -> Any:
    yield places.settle("cupy")
    places.settle("numpy")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PORTABLE)
def test_portable_code_gives_on_the_gpu_what_it_gives_on_the_host(name: str, device: Any) -> None:
    a, b = inputs()
    np = device.namespace(Counters(device.hosted))
    expected = flattened(PORTABLE[name](real, a.copy(), b.copy()))
    found = flattened(PORTABLE[name](np, device.moved(a), device.moved(b)))
    for one, other in zip(expected, found, strict=True):
        back = device.hosted(other)
        if isinstance(one, (str, bool, type(None))):
            assert back == one
        else:
            real.testing.assert_allclose(back, one, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cupy_cannot_do_is_known_as_a_refusal(name: str, device: Any) -> None:
    ask, _told = REFUSED[name]
    with pytest.raises((TypeError, AttributeError, NotImplementedError, ValueError)) as caught:
        ask(device.namespace(Counters(device.hosted)), device.moved(inputs()[0]))
    assert refused(caught.value, "cupy")


def test_the_peak_of_the_pool_is_the_peak_of_a_call(device: Any) -> None:
    np, trace = device.namespace(Counters(device.hosted)), device.trace()
    unit = 100 * 128 * 8
    trace.start()
    one = np.zeros((100, 128))
    two = one + 1
    del one
    peak = trace.stop()
    assert (peak, trace.held) == (2 * unit, unit)
    del two


def test_counted_arrays_compute_and_count(device: Any) -> None:
    counters = Counters(device.hosted)
    np = device.namespace(counters)
    q, k = (device.moved(value[0, 0]) for value in inputs())
    counters.start()
    q, k = (device.tracked(value, counters) for value in (q, k))
    weights = np.exp(q @ k.T - 1.0)
    counts = counters.stop()
    assert (counts["products"], counts["multiply_adds"], counts["exp_elements"]) == (1, 5 * 4 * 6, 30)
    a, b = (value[0, 0] for value in inputs())
    real.testing.assert_allclose(device.hosted(weights), real.exp(a @ b.T - 1.0), rtol=1e-12)


@pytest.mark.parametrize("task", ["backwards", "flash_attention"])
def test_a_reconstruction_gets_the_verdicts_of_the_cpu(task: str, place: Place) -> None:
    found = load_task(task)
    checks = [
        check.id
        for check in found.checks
        if not check.host and check.id not in ("throughput", "gradient_cost")
    ]
    submission = Submission.at(ROOT / "submissions" / "qwen36" / task, bindings=ROOT / "bindings")
    here = judge(found, submission, seed=1, checks=checks)
    there = judge(found, submission, seed=1, checks=checks, place=place)
    odd = {id: there[id].summary for id in checks if here[id].verdict != there[id].verdict}
    assert {id for id, summary in odd.items() if not summary.startswith("not portable")} == set()


RIGHT = "import numpy as np\n\ndef scale(x, factor):\n    return x * factor, (x, factor)\n"
KERNEL = '''
import cupy

kernel = cupy.RawKernel(r"""
extern "C" __global__ void run(double* x) { %s }
""", "run")

def scale(x, factor):
    y = x * factor
    kernel((1,), (1,), (y,))
    return y, (x, factor)
'''
ENDLESS = KERNEL % "volatile double* p = x; while (true) p[0] = p[0] + 1.0;"
ILLEGAL = KERNEL % "x[1LL << 40] = 1.0;"


@pytest.fixture
def on_gpu(scale: Task) -> Task:
    return replace(scale, backends=("gpu",), checks=tuple(replace(c, budget=15.0) for c in scale.checks))


@pytest.mark.parametrize("source", [ENDLESS, ILLEGAL], ids=["endless", "illegal address"])
def test_a_kernel_that_hangs_or_breaks_the_context_is_judged_and_the_next_is_clean(
    source: str, on_gpu: Task, submitted: Submit, place: Place
) -> None:
    began = time.monotonic()
    outcome = judge(on_gpu, submitted(source, model="bad"), seed=1, checks=["right"], place=place)["right"]
    assert outcome.verdict == "fail", outcome.summary
    assert time.monotonic() - began < 60
    clean = judge(on_gpu, submitted(RIGHT, model="right"), seed=1, checks=["right"], place=place)["right"]
    assert (clean.verdict, clean.backend) == ("pass", "gpu")


def test_every_device_computes_in_a_worker_that_sees_it_alone(on_gpu: Task, submitted: Submit) -> None:
    alone = RIGHT.replace(
        "    return", "    import cupy\n    assert cupy.cuda.runtime.getDeviceCount() == 1\n    return"
    )
    for place in find("gpu").places:
        outcome = judge(on_gpu, submitted(alone), seed=1, checks=["right"], place=place)["right"]
        assert (outcome.verdict, outcome.device) == ("pass", place.device.name)
