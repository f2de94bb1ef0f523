"""Carries messages between a test and a submission: bounded, in turn, and on the submission's own time.

Neither side is believed. Whatever the submission does wrong ends it, the test goes on without, and what it
did is the verdict; what the author's side does wrong is a fault of the challenge.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from typing import Any

from judge_tui.checks.calling.own_time import Over, Turn
from judge_tui.checks.challenges.behaviour.sides import Line, Side
from judge_tui.checks.challenges.behaviour.turns import OutOfTurnError, Party, Turns
from judge_tui.checks.errors import ChallengeFault, EngineError
from judge_tui.checks.faults import BadResult, Died, Fault, TimedOut
from judge_tui.checks.worker.border.messages import Answer, Ask, Control, Done, How, Message, Refusal

__all__ = ["GoneError", "Router"]

#: Seconds that the author's side may take between two messages; and once its submission is no more.
_PATIENCE, _LAST_PATIENCE = 60.0, 10.0
#: Seconds in which a process tells where its threads stand.
_STACKS = 1.0
#: Characters that a submission may print in one test.
_PRINTED = 1 << 20
_TEXT = 20_000


class GoneError(Exception):
    """The author's process was ended because it did not go on once its submission was no more."""


class Router:
    """The conversation of one author's process with submissions' processes, one after another.

    Args:
        author: The author's side.

    Attributes:
        fault: What the submission's process that is there now did wrong, and was ended for.
        spent: Seconds of the submission's own time since :meth:`begin`.
    """

    def __init__(self, author: Side) -> None:
        self.author = author
        self.fault: Fault | None = None
        self.spent = 0.0
        self._theirs: Side | None = None
        self._limit = 0.0
        self._turns = Turns()
        self._turn: Turn | None = None
        self._silent = _Silence(_PATIENCE)
        self._printed = 0
        self._beside_ran = 0.0
        self._watch()

    def begin(self, theirs: Side, seconds: float) -> None:
        """Go on with another process of the submission.

        Args:
            theirs: That.
            seconds: What it may take, all in all.
        """
        self._theirs, self.fault = theirs, None
        self._turns = Turns()
        self._watch()
        self.limit(seconds)

    def limit(self, seconds: float) -> None:
        """Let the process that is there take so long from now on."""
        self.spent, self._limit, self._printed, self._turn = 0.0, seconds, 0, None

    def control(self, name: str, **body: Any) -> dict[str, Any]:
        """Have the author's side do something, and carry messages until it has.

        Raises:
            ChallengeFault: It broke, or takes too long by itself.
            GoneError: It does so once the submission's process is no more.
            EngineError: The machine is too busy.
        """
        self.author.main.send(Control(name, body))
        while True:
            for party, message in self._messages():
                if isinstance(message, Done) and party is Party.AUTHOR:
                    self._leave()
                    return message.body
                self._routed(party, message)

    def end(self) -> None:
        """Let the submission's process go; threads of the test that still wait for it are told."""
        self._release()
        if self._theirs is not None:
            self._theirs.close()
            self._theirs = None
            self._watch()

    def _watch(self) -> None:
        """Listen to those that are there."""
        sides = ((Party.AUTHOR, self.author), (Party.SUBMISSION, self._theirs))
        self._lines = {
            line.fileno(): (party, line)
            for party, side in sides
            if side is not None
            for line in side.lines
            if line.fileno() >= 0
        }
        self._poller = select.poll()
        for fd in self._lines:
            self._poller.register(fd, select.POLLIN)

    def _routed(self, party: Party, message: Message) -> None:
        """Pass a message on, or end who may not say that."""
        try:
            if isinstance(message, Refusal):
                self._refused(party, message)
            elif isinstance(message, Ask):
                self._asked(party, message)
            elif isinstance(message, Answer):
                self._answered(party, message)
            elif not isinstance(message, Done):
                raise OutOfTurnError("says what only the engine says")
        except OutOfTurnError as error:
            self._misbehaved(party, str(error))

    def _refused(self, party: Party, refusal: Refusal) -> None:
        if party is Party.SUBMISSION:
            self._lost(BadResult(f"broke the conversation off: it was asked {refusal.clause[:200]}"))
            return
        # nothing waits there any more: who refuses goes on by itself
        self._turns.drop(refusal.thread)
        self._lost(BadResult(f"answered with {refusal.clause}"))

    def _asked(self, party: Party, ask: Ask) -> None:
        if party is Party.AUTHOR and self._theirs is None:
            self.author.send(ask.thread, self._ended(ask.thread))
            return
        self._turns.ask(party, ask.thread)
        self._clock()
        self._passed(party.other, ask.thread, ask)

    def _answered(self, party: Party, answer: Answer) -> None:
        if party is Party.AUTHOR and self._theirs is None:
            # what it answers to is gone; whoever waits below that on this thread is told
            self.author.send(answer.thread, self._ended(answer.thread))
            return
        self._turns.answer(party, answer.thread)
        if party is Party.SUBMISSION:
            self._printed += len(answer.printed)
            if self._printed > _PRINTED:
                raise OutOfTurnError(f"prints more than {_PRINTED:,} characters")
            if answer.how == How.ENDED:
                self._turns.ask(Party.AUTHOR, answer.thread)
                self._lost(Died(answer.value.decode("utf-8", "replace")[:500]))
                return
        elif answer.how == How.ENDED:
            raise OutOfTurnError("ended a call that it should answer")
        self._clock()
        self._passed(party.other, answer.thread, answer)

    def _passed(self, to: Party, thread: int, message: Message) -> None:
        side = self.author if to is Party.AUTHOR else self._theirs
        if side is None:
            return
        try:
            side.send(thread, message)
        except TimeoutError:
            self._misbehaved(to, "took nothing more in")

    def _ended(self, thread: int) -> Answer:
        told = self.fault.message if self.fault is not None else "is no more"
        return Answer(thread, How.ENDED, f"the submission {told}".encode()[:2_000])

    def _misbehaved(self, party: Party, clause: str) -> None:
        if party is Party.AUTHOR:
            self.author.close()
            raise ChallengeFault(f"The tests' side {clause}.")
        self._lost(BadResult(clause))

    def _lost(self, fault: Fault) -> None:
        """The submission's process is at its end: for a fault of its own."""
        self._leave()
        if self._theirs is not None:
            self.fault = self.fault or fault
            self._theirs.close()
            self._theirs = None
            self._watch()
        self._release()
        self._silent = _Silence(_LAST_PATIENCE)

    def _release(self) -> None:
        """Tell the test's threads that wait for the submission that it is no more."""
        for thread in self._turns.waiting(Party.AUTHOR):
            self.author.send(thread, self._ended(thread))
        self._turns = Turns()

    def _clock(self) -> None:
        """Run the submission's clock while it has a turn on some thread, else the author's."""
        if self._turns.inside and self._theirs is not None:
            if self._turn is None:
                self._turn = Turn(max(self._limit - self.spent, 0.0), self._theirs.processor)
                self._beside_ran = self.author.processor.total() if self._turns.threads > 1 else 0.0
        else:
            self._leave()

    def _leave(self) -> None:
        if self._turn is not None:
            ran = self.author.processor.total() - self._beside_ran if self._beside_ran else 0.0
            # what the test's other threads computed meanwhile is the test's time
            self.spent += max(self._turn.own - ran, 0.0)
            self._turn = None
        self._silent = _Silence(_PATIENCE if self.fault is None else _LAST_PATIENCE)

    def _messages(self) -> Iterator[tuple[Party, Message]]:
        """What was said next, by whom; what is late ends who is."""
        if self.author.main.fileno() < 0:
            self._gone(Party.AUTHOR)
        if self._turn is None:
            if (left := self._silent.left) <= 0:
                self._silence()
        elif isinstance(patience := self._patience(self._turn), Over):
            self._late(patience, self._turn)
            return
        else:
            left = patience
        lines = self._lines
        for fd, _event in self._poller.poll(min(left, 3600.0) * 1000 + 1):
            party, line = lines[fd]
            if party is Party.SUBMISSION and self._theirs is None:
                continue
            yield from self._heard(party, line)

    def _heard(self, party: Party, line: Line) -> Iterator[tuple[Party, Message]]:
        try:
            for message in line.read():
                yield party, message
        except EOFError:
            self._gone(party)
        except ValueError as error:
            self._misbehaved(party, f"sent {error}")

    def _gone(self, party: Party) -> None:
        if party is Party.SUBMISSION:
            if self._theirs is not None:
                self._lost(self._theirs.connection.ended())
            return
        died = self.author.connection.ended()
        if self.fault is not None:
            raise GoneError
        raise ChallengeFault(f"The tests' process {died.message}.", output=died.output)

    def _patience(self, turn: Turn) -> float | Over:
        """How long to wait for the submission, or why that is over."""
        return Over.OWN_TIME if self.spent >= self._limit else turn.patience()

    def _late(self, over: Over, turn: Turn) -> None:
        """The submission's time is over."""
        if over is Over.MACHINE:
            raise EngineError(
                f"the machine is too busy: a test that may take {turn.seconds:.3g} s was not let run",
                hint="Run it again when less else runs.",
            )
        ours, (text, file, line) = self._stacks(self.author)[0], self._stacks(self._theirs)
        told = _both(ours, text) or turn.told()
        self._lost(TimedOut(f"took longer than {self._limit:.3g} s", file=file, line=line, output=told))

    def _silence(self) -> None:
        """The author's side has said nothing for too long, and nobody keeps it from that."""
        text, file, line = self._stacks(self.author)
        self.author.close()
        if self.fault is not None:
            raise GoneError
        raise ChallengeFault(
            f"The test takes longer than {_PATIENCE:.0f} s by itself.",
            file=file,
            line=line,
            output=_both(text, ""),
        )

    def _stacks(self, side: Side | None) -> tuple[str, str | None, int | None]:
        """Where the threads of a process stand: text, and file and line of the innermost."""
        if side is None:
            return "", None, None
        deadline = time.monotonic() + _STACKS
        try:
            side.beside.send(Control("stacks"))
            while (left := deadline - time.monotonic()) > 0:
                poller = select.poll()
                poller.register(side.beside.fileno(), select.POLLIN)
                if not poller.poll(left * 1000):
                    break
                for message in side.beside.read():
                    if isinstance(message, Done):
                        return _told(message.body)
        except (EOFError, ValueError, OSError):
            pass
        return "", None, None


class _Silence:
    """How long one side may still say nothing.

    Args:
        seconds: From now on.
    """

    __slots__ = ("_until",)

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._until - time.monotonic()


def _both(ours: str, theirs: str) -> str:
    """Where both sides stand, as a text."""
    told = (("the test", ours), ("the submission", theirs))
    return "\n".join(f"{name} stands at\n{text}" for name, text in told if text)


def _told(body: dict[str, Any]) -> tuple[str, str | None, int | None]:
    text, file, line = body.get("text"), body.get("file"), body.get("line")
    return (
        text[:_TEXT] if isinstance(text, str) else "",
        file[:1_000] if isinstance(file, str) else None,
        line if isinstance(line, int) and 0 < line < 2**31 else None,
    )
