"""The plan past one card, on devices that are none: who runs where, and what is kept of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks import backends
from judge_tui.checks.backends import Backend, Device, choose
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.errors import UsageError
from judge_tui.checks.events import Finished, Planned, Ready
from judge_tui.checks.placement import Devices, aside, dealt, stand_back
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.runner import run
from judge_tui.checks.store import Store
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task

Submit = Callable[..., Submission]
DOUBLES = Path(__file__).parent / "doubles"
RIGHT = "def scale(x, factor):\n    return x * factor, (x, factor)\n"


def fake(*names: str) -> Backend:
    devices = tuple(Device(str(index), name) for index, name in enumerate(names))
    return Backend("gpu", devices, arrays="strict_cupy")


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Says which cards there are."""
    monkeypatch.syspath_prepend(str(DOUBLES))

    def say(*names: str) -> None:
        backends._found.cache_clear()
        monkeypatch.setitem(backends.BACKENDS, "gpu", lambda: fake(*names))

    yield say
    backends._found.cache_clear()


def checks(count: int) -> list[Check]:
    return [Check(f"check{n}", "c", "c", lambda bench, found: "") for n in range(count)]


def test_a_device_has_one_job_at_a_time() -> None:
    devices = Devices(fake("a", "a", "b").places)
    assert devices.count == 3
    taken: dict[str, int] = defaultdict(int)
    most, lock = 0, threading.Lock()

    def work() -> None:
        nonlocal most
        with devices.taken() as place:
            with lock:
                taken[place.device.id] += 1
                most = max(most, *taken.values())
            threading.Event().wait(0.02)
            with lock:
                taken[place.device.id] -= 1

    threads = [threading.Thread(target=work) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, set(taken)) == (1, {"0", "1", "2"})


def test_the_processor_takes_as_many_jobs_as_asked() -> None:
    place = backends.find("cpu").places
    assert (Devices(place, 5).count, Devices(fake("a", "b").places, 1).count) == (5, 1)


@pytest.mark.parametrize(
    ("submissions", "cards", "jobs", "parts"),
    [
        (1, ("a", "b", "c"), 0, ["03", "14", "2"]),
        (1, ("a", "b"), 0, ["024", "13"]),
        (2, ("a", "b", "c", "d"), 0, ["024", "13"]),
        (3, ("a", "b"), 0, ["01234"]),
        (1, ("a", "b", "c"), 2, ["024", "13"]),
        (1, ("a",), 0, ["01234"]),
    ],
)
def test_few_submissions_share_many_devices(
    submissions: int, cards: tuple[str, ...], jobs: int, parts: list[str]
) -> None:
    found = dealt(checks(5), submissions, fake(*cards).places, jobs)
    assert ["".join(check.id[-1] for check in part) for part in found] == parts


def test_on_the_processor_checks_stay_together() -> None:
    assert len(dealt(checks(5), 1, backends.find("cpu").places)) == 1


def test_what_needs_no_process_of_others_runs_aside_on_the_processor_unless_jobs_are_counted() -> None:
    cpu, cards = backends.find("cpu").places, fake("a").places
    alone = [replace(each, apart=True) for each in checks(2)]
    assert aside(alone, cpu)
    assert not aside([*alone, *checks(1)], cpu)
    assert not aside(alone, cpu, 1)
    assert not aside(alone, cards)


@pytest.mark.skipif(sys.platform != "linux", reason="niceness is a thread's own on Linux alone")
def test_a_thread_that_stands_back_takes_what_it_starts_along_and_no_other_thread() -> None:
    told: list[int] = []

    def work() -> None:
        stand_back()
        code = "import os; print(os.getpriority(os.PRIO_PROCESS, 0))"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        told.append(int(ran.stdout))

    mine = os.getpriority(os.PRIO_PROCESS, 0)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert told == [min(mine + 5, 19)]
    assert os.getpriority(os.PRIO_PROCESS, 0) == mine


def seen(bench: Bench, found: Findings) -> str:
    """Tell which device the submission was called on."""
    bench.call("forward", bench.contract.sample(bench.rng("sample")).inputs)
    found.claim("called", True)
    return bench.place.device.id


@pytest.fixture
def task(scale: Task, monkeypatch: pytest.MonkeyPatch) -> Task:
    four = tuple(Check(f"seen{n}", "seen", "It is called.", seen, roles=("forward",)) for n in range(4))
    made = replace(scale, checks=four, backends=("gpu", "cpu"))
    monkeypatch.setattr("judge_tui.checks.runner.task_of", lambda name, challenge: made)
    return made


def asked(submission: Submission, *models: str, backend: str = "auto") -> Request:
    named = tuple(RequestedSubmission(model, str(submission.path)) for model in models)
    return Request("scale", named, backend=backend, seed=1, trust=True)  # type: ignore[arg-type]


def test_one_submission_is_judged_on_every_card_and_outcomes_name_theirs(
    task: Task, submitted: Submit, cards: Callable[..., None], tmp_path: Path
) -> None:
    cards("card A", "card B")
    store = Store(tmp_path / "cache")
    events = list(run(asked(submitted(RIGHT), "m"), store=store))
    assert [(e.backends, e.backend) for e in events if isinstance(e, Planned)] == [(("gpu", "cpu"), "gpu")]
    assert [(e.backend, e.device) for e in events if isinstance(e, Ready)] == [("gpu", "card A, card B")]
    found = {e.outcome.check: e.outcome for e in events if isinstance(e, Finished)}
    assert {check: (o.verdict, o.backend) for check, o in found.items()} == dict.fromkeys(
        task.by_id, ("pass", "gpu")
    )
    assert {o.device for o in found.values()} == {"card A", "card B"}
    assert {o.summary for o in found.values()} == {"0", "1"}
    again = list(run(asked(submitted(RIGHT), "m"), store=store))
    assert [e.cached for e in again if isinstance(e, Finished)] == [True] * 4


def test_what_was_found_on_one_card_is_not_shown_of_another(
    task: Task, submitted: Submit, cards: Callable[..., None], tmp_path: Path
) -> None:
    store = Store(tmp_path / "cache")
    cards("card A")
    assert not any(
        e.cached for e in run(asked(submitted(RIGHT), "m"), store=store) if isinstance(e, Finished)
    )
    for other, backend in ((("card B",), "auto"), (("card A",), "cpu")):
        cards(*other)
        events = list(run(asked(submitted(RIGHT), "m", backend=backend), store=store))
        assert [e.cached for e in events if isinstance(e, Finished)] == [False] * 4


def test_three_submissions_on_two_cards_all_get_their_verdicts(
    task: Task, submitted: Submit, cards: Callable[..., None], tmp_path: Path
) -> None:
    cards("card", "card")
    events = list(run(asked(submitted(RIGHT), "one", "two", "three"), store=Store(tmp_path / "cache")))
    assert [e.device for e in events if isinstance(e, Ready)] == ["2 × card"]
    found = [e.outcome for e in events if isinstance(e, Finished)]
    assert sorted((o.model, o.check) for o in found) == sorted(
        (model, check) for model in ("one", "two", "three") for check in task.by_id
    )
    assert {o.verdict for o in found} == {"pass"}


def test_auto_takes_the_best_that_works_and_never_what_a_task_cannot_use(cards: Callable[..., None]) -> None:
    cards("card")
    assert choose("auto", ("gpu", "cpu"), "t").name == "gpu"
    assert choose("auto", ("cpu", "gpu"), "t").name == "cpu"
    assert choose("auto", ("cpu",), "t").name == "cpu"
    assert choose("gpu", ("cpu", "gpu"), "t").name == "gpu"
    cards()
    assert choose("auto", ("gpu", "cpu"), "t").name == "cpu"
    with pytest.raises(UsageError, match="do not run on backend 'gpu'"):
        choose("gpu", ("cpu",), "t")


def test_a_backend_that_does_not_work_says_why_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "driver_trouble", lambda: "no NVIDIA driver is installed")
    backends._found.cache_clear()
    with pytest.raises(UsageError, match="does not work here: no NVIDIA driver is installed") as caught:
        choose("gpu", ("gpu", "cpu"), "t")
    assert "--backend cpu" in caught.value.hint
    backends._found.cache_clear()


@pytest.mark.parametrize(
    ("printed", "code", "told"),
    [
        ('{"cupy": "14", "devices": [{"id": "0", "name": "H"}, {"id": "1", "name": "H"}]}', 0, "2 × H"),
        ('warning\n{"cupy": "14", "devices": [{"id": "0", "name": "H"}]}', 0, "H"),
        ('{"cupy": "14", "devices": []}', 0, "CuPy sees no device"),
        ("nonsense", 0, "CuPy does not work: "),
        ("", 1, "CuPy does not work: ImportError: libcublas.so.12"),
    ],
)
def test_what_cupy_says_of_itself_is_read(
    printed: str, code: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ran(*args: object, **kwargs: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], code, printed, "Traceback …\nImportError: libcublas.so.12\n")

    monkeypatch.setattr(backends, "driver_trouble", lambda: "")
    monkeypatch.setattr(backends.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(backends.subprocess, "run", ran)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert backends._gpu().line.startswith(told)
    if told == "2 × H":
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-a, 3")
        assert [device.id for device in backends._gpu().devices] == ["GPU-a", "3"]
