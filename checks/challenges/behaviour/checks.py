"""Each test function of a challenge is a check; its parametrizations are rows of evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.behaviour.judged import Judged, Row, Trial
from judge_tui.checks.challenges.behaviour.outline import Behaviour, TestFile, TestFunction
from judge_tui.checks.challenges.challenge import OPEN, Challenge
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Fault, Raised, Skipped
from judge_tui.checks.generic import GENERIC
from judge_tui.checks.missing import lacking_framework
from judge_tui.checks.verdict import Verdict

__all__ = ["checks_of"]

_OUTPUT, _LINE = 8_000, 300
#: Seconds of a check beside those of its tests: starting processes, telling what came of them.
_BESIDE = 60.0
_NO_PYTEST = "pytest is not installed, which runs a challenge's tests: pip install pytest"


def checks_of(challenge: Challenge, authors: Authors, behaviour: Behaviour) -> tuple[Check, ...]:
    """The checks that a challenge's tests make.

    Args:
        challenge: The challenge.
        authors: Its author.
        behaviour: What its tests hold.
    """
    listed = [(file, test) for file in behaviour.files for test in file.tests]
    ids = _ids(listed)
    made = [
        _check(challenge, authors, behaviour, file, test, ids[index], further=len(listed) - 1 - index)
        for index, (file, test) in enumerate(listed)
    ]
    return (*made, *(_broken(file) for file in behaviour.files if not file.tests))


def _ids(listed: list[tuple[TestFile, TestFunction]]) -> list[str]:
    """Names; with the class, or the file, where names clash."""
    taken = {check.id for check in GENERIC}

    def spelled(file: TestFile, test: TestFunction) -> Iterator[str]:
        stem = file.file.removeprefix("tests/").removesuffix(".py")
        yield test.name
        if test.group:
            yield f"{test.group}::{test.name}"
        yield f"{stem}::{test.name}" if not test.group else f"{stem}::{test.group}::{test.name}"

    spellings = [list(spelled(file, test)) for file, test in listed]
    chosen = [spelling[0] for spelling in spellings]
    for level in (1, 2):
        often = Counter(chosen)
        chosen = [
            spelling[min(level, len(spelling) - 1)] if often[name] > 1 or name in taken else name
            for name, spelling in zip(chosen, spellings, strict=True)
        ]
    return chosen


def _check(
    challenge: Challenge, authors: Authors, behaviour: Behaviour, file: TestFile, test: TestFunction, id: str,
    *, further: int,
) -> Check:  # fmt: skip
    def body(bench: Bench, found: Findings) -> str:
        if behaviour.without_pytest:
            raise Skipped(_NO_PYTEST)
        judged = bench.beside((challenge.path, "tests"), lambda: Judged(challenge, authors, behaviour, bench))
        try:
            rows = judged.rows(file.file, test.group, test.name, further=further)
        except Fault as fault:
            if isinstance(fault, Skipped):
                raise
            said = (fault.kind, fault.detail) if isinstance(fault, Raised) else ("", "")
            if absent := lacking_framework(bench.submission, *said, OPEN):
                raise absent from fault
            return _unimported(found, fault)
        if not rows:
            raise ChallengeFault(
                f"{test.name} is not collected with this submission.", file=file.file, line=test.line
            )
        for row in rows:
            _tell(found, row, file, test)
        if absent := _absent(bench, rows):
            raise absent
        return _summary(found, rows)

    limit = challenge.settings.limits.seconds
    title = test.name.removeprefix("test_").replace("_", " ")
    says = " ".join(test.doc.split()) or f"What {file.file}:{test.line} asserts of the answer."
    return Check(id, title, says, body, budget=(limit + 5) * max(test.rows, 1) + limit + _BESIDE, host=True)


def _broken(file: TestFile) -> Check:
    """A file that gives no tests: its fault is told, once."""

    def body(bench: Bench, found: Findings) -> str:
        if file.trouble is not None:
            raise file.trouble
        raise Skipped(file.skipped or f"{file.file} has no tests")

    return Check(file.file, file.file, f"The tests of {file.file} can be collected.", body, host=True)


def _absent(bench: Bench, rows: list[Row]) -> Skipped | None:
    """The framework that an answer may be built on, and that is not here, where that alone ended its rows."""
    ends = [_absent_in(bench, row) for row in rows if not _fine(row)]
    return next(iter(ends), None) if all(ends) else None


def _fine(row: Row) -> bool:
    return row.fault is None and (row.trial is None or row.trial.ending in ("passed", "skipped", "expected"))


def _absent_in(bench: Bench, row: Row) -> Skipped | None:
    if row.fault is not None or row.trial is None or row.trial.ending != "raised":
        return None
    return lacking_framework(bench.submission, row.trial.type, row.trial.said, OPEN)


def _unimported(found: Findings, fault: Fault) -> str:
    """The submission's module cannot be imported, or lacks a name: none of the tests can be run."""
    found.claim(
        "import", False, measured=fault.message, file=fault.file, line=fault.line, output=fault.output
    )
    return f"the submission {fault.placed}"


def _tell(found: Findings, row: Row, file: TestFile, test: TestFunction) -> None:
    """Evidence of one run."""
    trial = row.trial
    if trial is not None and trial.unfit:
        raise ChallengeFault(
            f"{row.title}: {trial.unfit}.",
            file=trial.test_file or file.file,
            line=trial.test_line or test.line,
            output=trial.trace,
        )
    if row.fault is not None:
        _tell_of_end(found, row, trial)
    elif trial is None:
        raise ChallengeFault(f"{row.title} ended its process.", file=file.file, line=test.line)
    elif trial.ending in ("broken", "unfit"):
        said = f"{trial.type}: {trial.said}" if trial.type else trial.said
        raise ChallengeFault(
            f"{row.title}: {_first(said)}.",
            file=trial.test_file or file.file,
            line=trial.test_line or test.line,
            output=trial.trace,
        )
    elif trial.ending in ("skipped", "expected"):
        found.note(
            row.title,
            f"{'skips itself' if trial.ending == 'skipped' else 'expected to fail'}: {_first(trial.said)}",
        )
    elif trial.ending == "passed":
        _tell_of_pass(found, row, trial)
    else:
        _tell_of_failure(found, row, trial)


def _tell_of_end(found: Findings, row: Row, trial: Trial | None) -> None:
    fault = row.fault
    assert fault is not None
    output = "\n".join(filter(None, (fault.output, trial.trace if trial else "")))
    found.claim(
        row.title, False, measured=fault.message, file=fault.file, line=fault.line,
        note=_at_test(trial), output=output[-_OUTPUT:],
    )  # fmt: skip


def _tell_of_pass(found: Findings, row: Row, trial: Trial) -> None:
    notes = [f"{name} at {place}:{line}" for place, line, name in trial.words]
    rests = bool(trial.own) and not trial.data and not trial.raised
    note = ""
    if notes:
        note = f"{'rests on' if rests else 'asked for'} the submission's own word: {', '.join(notes)}"
    if trial.reduced:
        crossed = f"{', '.join(trial.reduced)} crossed as the built-in class below"
        note = f"{note}; {crossed}" if note else crossed
    found.claim(
        row.title, True, measured=round(row.seconds, 6), unit="s", note=note, output=trial.printed[-_OUTPUT:]
    )
    if rests:
        found.conclude(Verdict.WARN)


def _tell_of_failure(found: Findings, row: Row, trial: Trial) -> None:
    raised = trial.ending == "raised"
    said = (
        f"raised {trial.type}: {trial.said}"
        if raised and trial.said
        else f"raised {trial.type}"
        if raised
        else trial.said
    )
    if not raised and trial.type not in ("AssertionError", "Failed", ""):
        said = f"{trial.type}: {trial.said}"
    file, line = (trial.file, trial.line) if trial.file else trial.where or (None, None)
    output = "\n".join(filter(None, (trial.their_trace, trial.trace, trial.printed)))
    found.claim(
        row.title, False, measured=_first(said), file=file, line=line, note=_at_test(trial),
        output=output[-_OUTPUT:],
    )  # fmt: skip


def _at_test(trial: Trial | None) -> str:
    """The test's line."""
    return f"{trial.test_file}:{trial.test_line}" if trial and trial.test_file else ""


def _first(said: str) -> str:
    """The head of an explanation, on one line: what was compared, and where the first of it came from."""
    text = " ".join(" ".join(said.split("\n")[:2]).split())
    return text if len(text) <= _LINE else f"{text[:_LINE]}…"


def _summary(found: Findings, rows: list[Row]) -> str:
    verdict = found.verdict
    if verdict is None:
        told = " ".join(str(item.measured) for item in found.evidence[:1])
        raise Skipped(f"the test {told}")
    wrong = found.wrong
    if wrong is not None:
        passed = sum(item.ok is True for item in found.evidence)
        rest = f" ({len(rows) - passed} of {len(rows)} fail)" if len(rows) > 1 else ""
        at = f" at {wrong.note}" if wrong.note else ""
        named = f"{wrong.quantity}: " if len(rows) > 1 else ""
        return f"{named}{wrong.measured}{at}{rest}"
    seconds = sum(row.seconds for row in rows)
    how = "; all that it asserts rests on the submission's own word" if verdict is Verdict.WARN else ""
    counted = f"{len(rows)} parametrizations pass" if len(rows) > 1 else "passes"
    return f"{counted} in {seconds:.3g} s{how}"
