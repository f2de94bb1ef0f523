"""One submission judged by a challenge's tests: both sides' processes, and what came of each test."""

from __future__ import annotations

import contextlib
import zlib
from difflib import get_close_matches
from typing import Annotated, Any

import msgspec
import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.own_time import Account
from judge_tui.checks.challenges.author import Author, Authors
from judge_tui.checks.challenges.behaviour.entry import defined, entry_of
from judge_tui.checks.challenges.behaviour.outline import Behaviour, sentence
from judge_tui.checks.challenges.behaviour.processes import Processes
from judge_tui.checks.challenges.behaviour.router import GoneError, Router
from judge_tui.checks.challenges.behaviour.sides import Side, pair
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import ChallengeFault, EngineError
from judge_tui.checks.faults import Died, Fault
from judge_tui.checks.sources import python_files
from judge_tui.checks.typed import converted

__all__ = ["Judged", "Row", "Trial"]

_START = 30.0
#: Names of an answer that are told where it lacks one; of more nobody picks out what was meant.
_FEW = 3
Name = Annotated[str, msgspec.Meta(max_length=2_000)]
Text = Annotated[str, msgspec.Meta(max_length=200_000)]
Line = Annotated[int, msgspec.Meta(ge=0, le=2**31)]


class Trial(msgspec.Struct):
    """What pytest said of a test, in the author's process.

    Attributes:
        ending: ``passed``, ``failed`` (an assertion), ``raised`` (by the submission),
            ``skipped``, ``expected`` (to fail), ``broken`` (the author's own fault), ``unfit`` (to cross).
        said: The assertion's explanation, the exception's text, the reason.
        type: The exception's.
        when: ``setup``, ``call`` or ``teardown``.
        test_file: Where in the challenge.
        test_line: 1-based.
        file: Where in the submission.
        line: 1-based.
        where: File and line of what was called last.
        trace: As pytest shows it.
        their_trace: The submission's.
        printed: By either side.
        unfit: What cannot cross, where a test asks for that.
        words: Where the submission's own word decided something: file, line, method.
        own: Assertions that held by its own word.
        data: Those that held on data.
        raised: Exceptions of the submission's that the test met.
        asks: What was asked of it.
        reduced: Classes of which objects crossed as the plain class below.
    """

    ending: Name
    said: Text = ""
    type: Name = ""
    when: Name = ""
    test_file: Name | None = None
    test_line: Line | None = None
    file: Name | None = None
    line: Line | None = None
    where: tuple[Name, Line] | None = None
    trace: Text = ""
    their_trace: Text = ""
    printed: Text = ""
    unfit: Text = ""
    words: list[tuple[Name, Line, Name]] = []
    own: int = 0
    data: int = 0
    raised: int = 0
    asks: int = 0
    reduced: list[Name] = []


class _Test(msgspec.Struct):
    name: Name
    group: Name
    row: Name


class _Gathered(msgspec.Struct):
    tests: list[_Test] = []
    touched: bool = False
    unfit: Text = ""
    fault: Text = ""
    type: Name = ""
    fault_file: Name | None = None
    line: Line | None = None
    missing: Name = ""
    lacks: Name = ""
    skipped: Text = ""


class Row(msgspec.Struct):
    """One run of a test function.

    Attributes:
        title: Its name, with its parameters.
        trial: What came of it; nothing where the submission's process did not get so far.
        fault: What the submission did that ended its process.
        seconds: Of the submission's own time.
    """

    title: str
    trial: Trial | None
    fault: Fault | None
    seconds: float


class Judged:
    """The processes of one submission under one challenge's tests; of one thread.

    Args:
        challenge: The challenge.
        authors: Its author.
        behaviour: What its tests hold.
        bench: The submission's.

    Raises:
        Unbound: The submission has no module that the tests could mean.
        ChallengeFault: The author's process does not start.
    """

    def __init__(self, challenge: Challenge, authors: Authors, behaviour: Behaviour, bench: Bench) -> None:
        settings = challenge.settings
        self._limit = settings.limits.seconds
        self._shared = settings.process == "file"
        self._challenge, self._authors, self._bench = challenge, authors, bench
        entry = entry_of(bench.submission, settings, behaviour.names)
        self._processes = Processes(
            bench, entry, self._drawn("submission"), seconds=self._limit, memory=settings.limits.memory
        )
        self._held = contextlib.ExitStack()
        self._router: Router | None = None
        self._file = ""
        self._gathered = _Gathered()
        self._theirs: Side | None = None
        self._unused = False

    def close(self) -> None:
        """End all processes."""
        self._processes.close()
        self._end_author()

    def rows(self, file: str, group: str, name: str, *, further: int) -> list[Row]:
        """Run a test function with all its parameters.

        Args:
            file: The challenge's file that it is in.
            group: Its classes.
            name: Its name.
            further: How many other tests may be run.

        Raises:
            Fault: The submission's module cannot be imported, or has not what the tests import.
            ChallengeFault: The author's files are off.
        """
        try:
            if self._bench.stopped:
                raise Died("was stopped")
            return self._ran(file, group, name, further)
        except (ChallengeFault, EngineError, OSError, ValueError) as error:
            # Who stops everything ends both sides, whatever they were about.
            if self._bench.stopped:
                raise Died("was stopped") from error
            raise

    def _ran(self, file: str, group: str, name: str, further: int) -> list[Row]:
        self._prepare(file, further=further)
        tests = self._gathered.tests
        mine = [index for index, test in enumerate(tests) if (test.group, test.name) == (group, name)]
        return [
            self._row(file, index, further=further + len(mine) - 1 - place)
            for place, index in enumerate(mine)
        ]

    def _prepare(self, file: str, *, further: int) -> None:
        """Have the tests of a file collected with this submission."""
        if self._router is None or not self._router.author.alive or self._router.author.tired:
            self._end_author()
            self._start_author()
        if self._file != file:
            self._begin_next(further=further)
            self._gather(file)

    def _gather(self, file: str) -> None:
        assert self._router is not None
        self._file = ""
        router = self._router
        try:
            self._gathered = _converted(router.control("gather", file=file), _Gathered)
        except GoneError:
            self._end_author()
        if router.fault is not None:
            raise router.fault
        self._file = file
        found = self._gathered
        if found.lacks:
            self._file = ""
            raise Fault(
                f"has no {found.lacks}, which {found.fault_file or file}:{found.line} imports"
                f"{self._near(found.lacks)}"
            )
        if found.unfit or found.fault:
            self._file = ""
            raise ChallengeFault(
                sentence(found.type, found.unfit or found.fault),
                file=found.fault_file or file,
                line=found.line,
            )
        if found.touched:
            self._unused = False

    def _near(self, name: str) -> str:
        """What the answer has that is spelt nearly so, as a clause; empty for nothing."""
        answer = self._bench.submission
        names = {each for file in python_files(answer) for each in defined(answer, file)}
        near = get_close_matches(name, names, n=1) or sorted(n for n in names if not n.startswith("_"))
        return f"; it has {', '.join(near)}" if 0 < len(near) <= _FEW else ""

    def _row(self, file: str, index: int, *, further: int) -> Row:
        test = self._gathered.tests[index]
        title = f"{test.name}[{test.row}]" if test.row else test.name
        if not self._shared or self._theirs is None or not self._theirs.alive:
            if not self._unused:
                self._begin_next(further=further)
                if self._gathered.touched:
                    self._gather(file)
        assert self._router is not None
        router = self._router
        self._unused = False
        router.limit(self._limit)
        try:
            trial = _converted(router.control("run", index=index, last=not self._shared), Trial)
        except GoneError:
            trial = None
            self._end_author()
        return Row(title, trial, router.fault, router.spent)

    def _begin_next(self, *, further: int) -> None:
        """Go on with a process of the submission's that nothing was asked of yet."""
        assert self._router is not None
        self._router.end()
        self._theirs = self._processes.next(further=0 if self._shared else further)
        self._unused = True
        self._router.begin(self._theirs, self._limit)
        self._router.control("begin", seed=self._drawn("author"))

    def _start_author(self) -> None:
        author = Author(
            self._challenge, self._authors.folder, mode=self._bench.mode, hashes=self._bench.hashes
        )
        self._held.enter_context(self._bench.watched(author.worker))
        author.worker.account = Account()
        ours, theirs = pair()
        try:
            with theirs:
                author.worker.hand_over("border", theirs.fileno(), budget=_START, tests=True)
        except Fault as fault:
            author.close()
            raise ChallengeFault(f"The tests' process {fault.message}.", output=fault.output) from fault
        self._router = Router(Side(author.worker, ours))

    def _end_author(self) -> None:
        router, self._router = self._router, None
        self._file = ""
        if router is not None:
            router.end()
            router.author.close()
        self._held.close()

    def _drawn(self, side: str) -> int:
        """A seed of one side, from which the run's is not to be told."""
        return int(np.random.default_rng([self._bench.seed, zlib.crc32(side.encode())]).integers(2**32))


def _converted(told: dict[str, Any], kind: Any) -> Any:
    try:
        return converted(told, kind)
    except msgspec.ValidationError as error:
        raise ChallengeFault(f"The tests' process says what it may not say: {error}.") from error
