"""Printing outcomes: as text or JSON lines while they come, or as one JSON or JUnit document at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Protocol

import click
import msgspec

from judge_tui.checks.events import Done, Event, Finished, Planned, Progress, Ready, Started
from judge_tui.checks.lines import split_lines
from judge_tui.checks.verdict import SEVERITY, Outcome, Report, Verdict
from judge_tui.cli.sharding import ShardHead
from judge_tui.cli.table import coloured, columns, padded, wrapped
from judge_tui.cli.tally import Tally
from judge_tui.judging.plain import plain

__all__ = ["JsonLinesPrinter", "JsonPrinter", "JunitPrinter", "Printer", "TextPrinter", "make_printer"]

_COLOURS = {
    Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.ERROR: "magenta", Verdict.WARN: "yellow",
    Verdict.AMBIGUOUS: "yellow", Verdict.UNBOUND: "cyan", Verdict.SKIP: "bright_black",
}  # fmt: skip
_CLEAR = "\r\033[K"


class Printer(Protocol):
    """What shows the events of a run."""

    def show(self, event: Event) -> None:
        """Take an event, in order."""

    def pause(self) -> None:
        """Leave the terminal clean, whatever ended the run."""

    def close(self, ended: str = "") -> None:
        """Print what is printed at the end; ``ended`` says why that came early, in a few words."""


def make_printer(form: str, tally: Tally | None = None) -> Printer:
    """The printer of a format: ``text``, ``json``, ``jsonl`` or ``junit``.

    Args:
        form: The format.
        tally: How far the run is, for the line that says what is going on.
    """
    kinds: dict[str, Callable[[Tally | None], Printer]] = {
        "text": TextPrinter, "json": JsonPrinter, "jsonl": JsonLinesPrinter, "junit": JunitPrinter,
    }  # fmt: skip
    return kinds[form](tally)


class Ticker:
    """One line on standard error that says what is going on; nothing when that is no terminal.

    Args:
        tally: How far the run is.
    """

    def __init__(self, tally: Tally | None = None) -> None:
        self._tally = tally
        self._live = sys.stderr.isatty()
        self._shown = False

    def show(self, event: Event) -> None:
        """Say what began or goes on."""
        if isinstance(event, Started):
            self._write(f"{self._far}{event.task}  {event.model}  {event.check} …")
        elif isinstance(event, Progress):
            share = f" {event.fraction:4.0%}" if event.fraction is not None else ""
            self._write(f"{self._far}{event.task}  {event.model}  {event.check}{share}  {event.note}")

    @property
    def _far(self) -> str:
        """How far the run is, where there is more than one thing to do."""
        told = self._tally.now if self._tally is not None and self._live else None
        return f"{told}  " if told is not None and told.total > 1 else ""

    def doing(self, *parts: str) -> None:
        """Say what is done, in some words."""
        self._write("  ".join(parts))

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._shown = False

    def _write(self, text: str) -> None:
        if self._live:
            sys.stderr.write(_CLEAR + plain(text)[: columns() - 1])
            sys.stderr.flush()
            self._shown = True


class TextPrinter:
    """A table per task, a row as soon as its outcome is there.

    Args:
        tally: How far the run is.
    """

    def __init__(self, tally: Tally | None = None) -> None:
        self._ticker = Ticker(tally)
        self._widths = (0, 0)
        self._task = ""
        self._same: dict[str, str] = {}
        self._found: list[Outcome] = []
        self._setting = ""
        self._started = False

    def show(self, event: Event) -> None:
        """Print a head, a row or a foot."""
        if isinstance(event, Planned):
            self._head(event)
        elif isinstance(event, Ready):
            self._setting = f"{event.backend} {event.device}, sandbox {event.sandbox}, seed {event.seed}"
        elif isinstance(event, Finished):
            self._ticker.clear()
            if event.again:
                self._again(event.outcome)
            elif event.outcome.model not in self._same:
                self._row(event.outcome)
        elif isinstance(event, Done):
            self._ticker.clear()
            self._foot(event.seconds)
        else:
            self._ticker.show(event)

    def pause(self) -> None:
        """Take the progress line away."""
        self._ticker.clear()

    def close(self, ended: str = "") -> None:
        """Nothing is left to print."""

    def _head(self, event: Planned) -> None:
        self._widths = (
            max((len(c.model) for c in event.checks), default=0),
            max((len(c.check) for c in event.checks), default=0),
        )
        self._task, self._found, self._setting = event.task, [], ""
        self._same = event.same
        click.echo(("\n" if self._started else "") + plain(event.task))
        for model, judged in event.same.items():
            click.echo(f"  {plain(model)} = {plain(judged)}: the same answer, judged once")
        self._started = True

    def _row(self, outcome: Outcome) -> None:
        self._found.append(outcome)
        verdict = padded(outcome.verdict.value, 9)
        if coloured():
            verdict = click.style(verdict, fg=_COLOURS[outcome.verdict])
        model, check = self._widths
        lead = f"{padded(plain(outcome.model), model)}  {padded(plain(outcome.check), check)}"
        summary = plain(outcome.summary) + f"  ({outcome.seconds:.2f} s)"
        if sys.stdout.isatty():
            summary = wrapped(summary, columns(), 2 + 9 + 1 + model + 2 + check + 2)
        click.echo(f"  {verdict} {lead}  {summary}")
        sys.stdout.flush()

    def _again(self, outcome: Outcome) -> None:
        """Print what a search for an edit has added to an outcome."""
        added = outcome.evidence[-1]
        text = outcome.summary.rpartition("; ")[2] if added.measured else added.note
        model, check = self._widths
        lead = f"{padded(plain(outcome.model), model)}  {padded(plain(outcome.check), check)}"
        click.echo(f"  {padded('repair', 9)} {lead}  {plain(text)}")
        if added.output:
            click.echo("".join(f"    {plain(line)}\n" for line in split_lines(added.output)), nl=False)
        sys.stdout.flush()

    def _foot(self, seconds: float) -> None:
        counts = Counter(outcome.verdict for outcome in self._found)
        told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in reversed(SEVERITY) if counts[verdict])
        setting = self._setting or _stored_setting(self._found)
        click.echo(f"{plain(self._task)}: {told or 'nothing'} · {plain(setting)} · {seconds:.1f} s")


def _stored_setting(found: list[Outcome]) -> str:
    seeds = sorted({outcome.seed for outcome in found})
    return f"stored outcomes, seed {', '.join(map(str, seeds))}" if seeds else "nothing to do"


class _Collector:
    """Keeps what a document at the end needs.

    Args:
        tally: How far the run is.
    """

    def __init__(self, tally: Tally | None = None) -> None:
        self._ticker = Ticker(tally)
        self._outcomes: dict[tuple[str, str, str], Outcome] = {}
        self._ready: Ready | None = None

    def show(self, event: Event) -> None:
        """Take an event."""
        if isinstance(event, Finished):
            self._ticker.clear()
            one = event.outcome
            self._outcomes[one.task, one.model, one.check] = one
        elif isinstance(event, Ready):
            self._ready = self._ready or event
        else:
            self._ticker.show(event)

    def pause(self) -> None:
        """Take the progress line away."""
        self._ticker.clear()

    def report(self, ended: str) -> Report:
        """What was found, in the order of tasks, models and checks; ``ended`` early, where it was."""
        found = tuple(self._outcomes[key] for key in sorted(self._outcomes))
        first = found[0] if found else None
        told = self._ready
        return Report(
            schema=1,
            tool=_tool(),
            backend=told.backend if told else first.backend if first else "",
            device=told.device if told else first.device if first else "",
            sandbox=told.sandbox if told else first.sandbox if first else "",
            seed=told.seed if told else first.seed if first else 0,
            outcomes=found,
            ended=ended,
        )


class JsonPrinter(_Collector):
    """One JSON object at the end: :class:`judge_tui.checks.verdict.Report`."""

    def close(self, ended: str = "") -> None:
        """Print the object."""
        click.echo(msgspec.json.format(msgspec.json.encode(self.report(ended)), indent=1).decode())


class JsonLinesPrinter:
    """A JSON object a line: a head, then every outcome as it comes.

    The head is that of the JSON report without outcomes; the keys of a line tell which it is.

    Args:
        tally: How far the run is.
        part: What the head says as well, of one part of several; the last line then says how many outcomes
            there were, so that one that is missing is missed.
    """

    def __init__(self, tally: Tally | None = None, part: ShardHead | None = None) -> None:
        self._ticker = Ticker(tally)
        self._begun = False
        self._part, self._count = part, 0

    def show(self, event: Event) -> None:
        """Print an outcome, after the head."""
        if isinstance(event, Ready):
            self._head(event.backend, event.device, event.sandbox, event.seed)
        elif isinstance(event, Finished):
            self._ticker.clear()
            one = event.outcome
            self._head(one.backend, one.device, one.sandbox, one.seed)
            self._line(one)
            self._count += 1
        else:
            self._ticker.show(event)

    def pause(self) -> None:
        """Take the progress line away."""
        self._ticker.clear()

    def close(self, ended: str = "") -> None:
        """Print the head of a run without outcomes, and what ended one early."""
        self._head("", "", "", 0)
        if ended:
            self._line({"ended": ended})
        elif self._part is not None:
            self._line({"shard": self._part.shard, "outcomes": self._count})

    def _head(self, backend: str, device: str, sandbox: str, seed: int) -> None:
        if not self._begun:
            self._begun = True
            head = {"schema": 1, "tool": _tool(), "backend": backend, "device": device}
            part = {} if self._part is None else msgspec.structs.asdict(self._part)
            self._line(head | {"sandbox": sandbox, "seed": seed} | part)

    def _line(self, told: object) -> None:
        click.echo(msgspec.json.encode(told).decode())
        sys.stdout.flush()


class JunitPrinter(_Collector):
    """One JUnit XML document at the end: a suite per task and model, a case per check."""

    def close(self, ended: str = "") -> None:
        """Print the document."""
        from judge_tui.cli.junit import junit_xml

        click.echo(junit_xml(self.report(ended)))


def _tool() -> str:
    from importlib.metadata import version

    return f"judge-tui {version('judge-tui')}"
