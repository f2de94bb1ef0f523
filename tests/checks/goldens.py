"""What the binder finds, kept as data: ``goldens/<task>.toml`` has a table for each submission of the tests.

A line per role says its target and how it is called; ``open`` names the roles of which nothing came, and
``calls`` counts what the worker was asked for on the way. A change of the binder's logic shows here before
it shows in a verdict. ``make goldens`` writes them anew.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from judge_tui.checks.binding import binder
from judge_tui.checks.binding.binder import Bindings
from judge_tui.checks.binding.tables import path_text
from judge_tui.checks.calling.binding import Binding, Source
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.tasks.fuse import running
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["PROPERTY", "WRITING", "Search", "held", "searches", "store"]

HERE = Path(__file__).parent / "goldens"
#: Set, what is found is written down, and held against nothing.
WRITING = "JUDGE_TUI_WRITE_GOLDENS"
#: Under what a test tells the process that writes.
PROPERTY = "golden"

Record = Callable[[str, object], None]


@dataclass
class Search:
    """The searches of one submission, as long as they are listened to."""

    lines: dict[str, str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)

    def ended(self, bindings: Bindings) -> None:
        """Take down how each role is played; checks may add to what was found."""
        found = bindings.found
        self.lines = {role: _line(found[role]) for role in sorted(found)}
        self.lines["open"] = ", ".join(sorted({*bindings.rejected, *bindings.faults} - {*found}))

    def settled(self, settled: Settled) -> None:
        """Take down how a CUDA source is launched, which the shared binder does not look for."""
        tried = f"tried before {len(settled.tried)}" if settled.tried else ""
        self.lines = {
            "fuse": f"{_line(settled.launcher.binding())} variants({len(settled.launchers) - 1}) {tried}"
        }

    @property
    def told(self) -> dict[str, str]:
        """Role → how it is played, in one line; nothing where no search came to an end."""
        return self.lines and self.lines | {"calls": _counts(self.calls)}


@contextmanager
def searches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Search]:
    """Listen to every search for roles; the last one that comes to an end counts."""
    search, bind, request, settle = Search(), binder.bind, Worker._request, running._settled
    searching = False

    def listening(*arguments: Any, **named: Any) -> Bindings:
        nonlocal searching
        searching = True
        try:
            bindings = bind(*arguments, **named)
        finally:
            searching = False
        search.ended(bindings)
        return bindings

    def counting(worker: Worker, message: Mapping[str, Any], *rest: Any, **named: Any) -> Any:
        search.calls[str(message["op"])] += searching
        return request(worker, message, *rest, **named)

    def settling(*arguments: Any, **named: Any) -> Settled:
        settled = settle(*arguments, **named)
        search.settled(settled)
        return settled

    with monkeypatch.context() as patched:
        patched.setattr(binder, "bind", listening)
        patched.setattr(running, "_settled", settling)
        patched.setattr(Worker, "_request", counting)
        yield search


def held(search: Search, task: str, name: str, record: Record, *, whole: bool = True) -> None:
    """Hold what was found against the golden, or hand it to the process that writes.

    Args:
        search: What was heard.
        task: Its task.
        name: The table of the submission.
        record: Pytest's ``record_property``.
        whole: Whether all was run that searches; else none may have been made.
    """
    if not (search.told or whole):
        return
    if os.environ.get(WRITING):
        record(PROPERTY, json.dumps([task, name, search.told]))
        return
    assert search.told == _goldens(task).get(name), f"{task}: {name} is bound otherwise; see make goldens"


def store(told: list[tuple[str, str, dict[str, str]]]) -> None:
    """Write what tests have handed over; what was not looked at stays as it is."""
    for task in {task for task, _name, _lines in told}:
        goldens = {**_goldens(task), **{name: lines for of, name, lines in told if of == task}}
        HERE.mkdir(exist_ok=True)
        (HERE / f"{task}.toml").write_text(tomli_w.dumps(dict(sorted(goldens.items()))))


@cache
def _goldens(task: str) -> dict[str, dict[str, str]]:
    path = HERE / f"{task}.toml"
    return tomllib.loads(path.read_text()) if path.exists() else {}


def _line(binding: Binding) -> str:
    """A binding in one line: everything of it but why."""
    told = {
        "args": ", ".join(map(str, binding.args)),
        "init": None if binding.init is None else ", ".join(map(str, binding.init)),
        "returns": ", ".join(f"{name} {_path(source)}" for name, source in binding.returns.items()),
        "on": binding.on,
        "attributes": _pairs(binding.attributes),
        "layout": binding.layout,
        "model": binding.model,
        "patch": _pairs(binding.patch),
        "launch": _pairs(binding.launch),
        "loose": ", ".join(sorted(binding.loose)),
        "misshapen": "yes" if binding.misshapen else "",
    }
    parts = [
        f"{key}({value})" for key, value in told.items() if value or (key == "init" and value is not None)
    ]
    origin = "" if binding.origin == "found" else f" of {binding.origin}"
    return " ".join([f"{binding.target}:{binding.line}{origin}", *parts])


def _path(source: Source) -> str:
    try:
        return path_text(source) or "itself"
    except ValueError:
        return f"{source.of} {source.steps}"


def _pairs(pairs: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in pairs.items())


def _counts(calls: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(calls.items()) if count)
