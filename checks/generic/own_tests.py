"""The submission's own tests, run in the sandbox."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Skipped
from judge_tui.checks.generic.by_pytest import PytestRuns, WithoutPytestError
from judge_tui.checks.generic.found_tests import FoundTest, found_tests
from judge_tui.checks.generic.hooks import read, settled
from judge_tui.checks.generic.one_by_one import CalledTests
from judge_tui.checks.generic.scripts import run_script
from judge_tui.checks.generic.tested import Ending, Tested
from judge_tui.checks.verdict import Verdict

__all__ = ["own_tests", "without_scripts"]

#: Tests of one ending that get a row of evidence; passing ones whose output is kept.
_ROWS, _OUTPUTS = 250, 40
_OUTPUT = 4000
#: Endings that no hook has made better than they are.
_SETTLED = (Ending.FAILED, Ending.TIMED_OUT, Ending.NOT_RUN, Ending.OWN_RULES)


@check(
    "own_tests",
    "its own tests",
    host=True,
    apart=True,
    establishes="How many of the submission's own tests, or its main script, pass in the sandbox.",
    version=4,
    budget=180,
)
def own_tests(bench: Bench, found: Findings) -> str:
    """Run its tests with pytest, else its main scripts, in processes that no other check uses.

    What cannot be run for reasons that are not the submission's decides nothing.
    """
    tests, scripts = found_tests(bench.submission)
    if not tests and not scripts:
        raise Skipped("it has no test function and no main script")
    return _run(bench, found, tests, scripts)


@check(
    "own_tests",
    "its own tests",
    host=True,
    apart=True,
    establishes="How many of the submission's own tests pass in the sandbox; cases run its program.",
    version=own_tests.version,
    budget=own_tests.budget,
)
def without_scripts(bench: Bench, found: Findings) -> str:
    """The same for programs, whose main script is the answer itself: it reads what only a case gives it."""
    tests, _scripts = found_tests(bench.submission)
    if not tests:
        raise Skipped("it has no test function")
    return _run(bench, found, tests, ())


def _run(bench: Bench, found: Findings, tests: Sequence[FoundTest], scripts: Sequence[FoundTest]) -> str:
    started = time.monotonic()
    told = _Told(found)
    for tested in _tested(bench, tests):
        told.add(tested)
    kinds = ["test"] if told.counts or not scripts else []
    if found.verdict is None and scripts:
        kinds.append("script")
        for index, script in enumerate(scripts):
            bench.progress(script.title, index / len(scripts))
            told.add(run_script(bench, script.file, script.line))
    return told.summary(kinds, time.monotonic() - started)


def _tested(bench: Bench, tests: Sequence[FoundTest]) -> Iterator[Tested]:
    """What came of the tests, file by file."""
    try:
        yield from _by_pytest(bench, tests)
    except WithoutPytestError:
        with CalledTests(bench) as called:
            for index, test in enumerate(tests):
                bench.progress(f"{test.title} ({index + 1} of {len(tests)})", index / len(tests))
                if (tested := called.run(test)) is not None:
                    yield tested


def _by_pytest(bench: Bench, tests: Sequence[FoundTest]) -> Iterator[Tested]:
    """As pytest runs them; where hooks of the submission's can decide, without those as well."""
    files = list(dict.fromkeys(test.file for test in tests))
    lines = {f"{test.file}: {test.name}": test.line for test in tests}
    hooks = read(bench.submission)
    first: list[Tested] = []
    with PytestRuns(bench, lines) as runs:
        for file in files:
            for tested in runs.file(file):
                if not hooks and not runs.hooks:
                    yield tested
                else:
                    first.append(tested)
        hooks += [hook for hook in runs.hooks if hook not in hooks]
    if not hooks:
        return
    wrong = frozenset(tested.title for tested in first if tested.ending in _SETTLED)
    with PytestRuns(bench, lines, hooks=False, leaving_out=wrong) as runs:
        again = {tested.title: tested for file in files for tested in runs.file(file)}
    yield from settled(first, again, hooks)


class _Told:
    """Evidence and counts of what was run."""

    def __init__(self, found: Findings) -> None:
        self._found = found
        self._reasons: Counter[str] = Counter()
        self.counts: Counter[Ending] = Counter()

    def add(self, tested: Tested) -> None:
        """Tell of one test."""
        self.counts[tested.ending] += 1
        count = self.counts[tested.ending]
        passed = tested.ending is Ending.PASSED
        quiet = count > _OUTPUTS and passed
        output = "" if quiet else tested.output[-_OUTPUT:]
        where: dict[str, Any] = {"file": tested.file, "line": tested.line, "output": output}
        if tested.ending in (Ending.EXPECTED, Ending.SKIPPED, Ending.NOT_RUN):
            self._reasons[tested.told or str(tested.ending)] += 1
            if count <= _ROWS:
                self._found.note(tested.title, f"{tested.ending}: {tested.told}".rstrip(": "), **where)
        elif count > _ROWS:
            self._found.conclude(Verdict.PASS if passed else _verdict(tested))
        elif passed:
            self._found.claim(tested.title, True, measured=tested.seconds, unit="s", **where)
        else:
            self._found.claim(tested.title, False, measured=tested.told, otherwise=_verdict(tested), **where)

    def summary(self, kinds: Sequence[str], seconds: float) -> str:
        """How many ended how.

        Args:
            kinds: What they are, in the singular.
            seconds: How long all took.

        Raises:
            Skipped: Nothing that was run says anything.
        """
        total = self.counts.total()
        told = ", ".join(f"{self.counts[ending]} {ending}" for ending in Ending if self.counts[ending])
        what = " and ".join(kind + "s" * (total != 1) for kind in kinds)
        every = f"{total} {what}: {told}"
        if self._found.verdict is None:
            raise Skipped(f"{every} ({_listed(self._reasons)})" if total else "no test could be collected")
        return f"{every} in {seconds:.1f} s"


def _verdict(tested: Tested) -> Verdict:
    return Verdict.WARN if tested.ending in (Ending.TIMED_OUT, Ending.OWN_RULES) else Verdict.FAIL


def _listed(reasons: Counter[str]) -> str:
    """The commonest reasons, each once."""
    shown = [" ".join(reason.split())[:160] for reason, _count in reasons.most_common(3)]
    more = len(reasons) - len(shown)
    return "; ".join(shown) + (f"; {more} other reasons" if more > 0 else "")
