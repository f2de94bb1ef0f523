"""Who runs the checks is said by options; requests that run beside each other are told one after another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.errors import UsageError
from judge_tui.checks.events import Done, Event, Failed, Ready
from judge_tui.checks.request import Request
from judge_tui.cli import clustering
from judge_tui.cli.beside import beside_each_other

Cli = Callable[..., Any]
#: Stands in for a cluster: what runs on it is told by the test.
NOBODY: Any = object()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--engine", "local", "--scheduler", "tcp://x:1"), "the engine 'local' has no scheduler."),
        (("--engine", "ray"), "'ray' is not one of 'local', 'dask'"),
        (("--scheduler", "tls://127.0.0.1:1"), "no certificate was named"),
        (("--scheduler", "tls://127.0.0.1:1", "--tls-ca", "kv.pem"), "does not exist"),
        (("--scheduler", "nonsense://x:1"), "cannot be reached"),
        (("--scheduler", "localhost"), "'localhost' is no address of a scheduler"),
        (("--scheduler", "http://127.0.0.1:8787"), "'http://127.0.0.1:8787' is no address of a scheduler"),
    ],
)
def test_what_cannot_be_is_one_sentence(cli: Cli, root: Path, options: tuple[str, ...], said: str) -> None:
    pytest.importorskip("distributed")
    done = cli("check", "--all", *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_without_the_library_the_extra_is_named(
    cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clustering.importlib.util, "find_spec", lambda name: None)
    done = cli("check", "--all", "--engine", "dask")
    assert done.code == 2
    assert "pip install 'judge-tui[cluster]'" in done.err


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> dict[str, threading.Event]:
    """What each task's run waits for before it tells anything; all of them have begun."""
    held = {task: threading.Event() for task in ("a", "b")}

    def run(request: Request, *, cancel: threading.Event, executor: object) -> Iterator[Event]:
        assert executor is NOBODY
        yield Ready("cpu", request.task, "full", 1)
        while not (held[request.task].wait(0.01) or cancel.is_set()):
            pass
        if request.task == "b" and request.fresh:
            raise UsageError("odd")
        yield Done(1.0)

    monkeypatch.setattr("judge_tui.checks.runner.run", run)
    return held


def test_events_come_in_the_order_of_the_requests_whichever_is_first(
    ran: dict[str, threading.Event],
) -> None:
    heard: list[Event] = []

    def hear(event: Event) -> None:
        heard.append(event)
        # the first is not done before the second is
        if isinstance(event, Done):
            ran["a"].set()

    ran["b"].set()
    told = list(beside_each_other([Request("a", ()), Request("b", ())], threading.Event(), NOBODY, hear))
    first, second = [Ready("cpu", "a", "full", 1), Done(1.0)], [Ready("cpu", "b", "full", 1), Done(1.0)]
    assert told == first + second
    assert len(heard) == 4


def test_what_goes_wrong_in_one_ends_all(ran: dict[str, threading.Event]) -> None:
    cancel = threading.Event()
    ran["a"].set()
    ran["b"].set()
    asked = [Request("a", ()), Request("b", (), fresh=True)]
    with pytest.raises(UsageError, match="odd"):
        list(beside_each_other(asked, cancel, NOBODY, lambda event: None))
    assert cancel.is_set()


def test_who_stops_listening_stops_the_runs(ran: dict[str, threading.Event]) -> None:
    cancel = threading.Event()
    events = beside_each_other([Request("a", ()), Request("b", ())], cancel, NOBODY, lambda event: None)
    assert not isinstance(next(events), Failed)
    events.close()
    assert cancel.is_set()
    assert not [thread for thread in threading.enumerate() if "_fill" in thread.name]
