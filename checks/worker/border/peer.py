"""One side of the conversation between a test and a submission: asks, and answers what is asked."""

from __future__ import annotations

import contextlib
import socket
import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import partialmethod
from typing import Any

import numpy as np

from .channel import Channel, EndedError
from .codec import MalformedError, Record, TooMuchError
from .crossing import Crossing
from .kinds import Kinds
from .messages import DEEPEST, OPERATIONS, Answer, Ask, Control, How, Message, Refusal
from .operations import OPERATE
from .rules import Rules, UnfitError
from .standins import Home, Meta, StandIn, home_of, put_home
from .table import Table

__all__ = ["Peer"]

__tracebackhide__ = True
#: Objects that are given back with one message.
_MOST_RELEASED = 100_000


class Peer:
    """One side.

    Args:
        rules: What the other side may ask for, and what it is told.
        main: The main thread's socket.
        beside: The other one.
        first: What this side's threads are numbered from.
        control: Answers what the engine asks beside.

    Attributes:
        epoch: Which process over there; stand-ins of an earlier one are looked for anew.
        dropped: Numbers of objects over there that nobody here has any more, and how often they were told.
        heard: Told of every ask of this side's.
        word: Told of what special methods of an object over there answered.
        raised: How many asks of this side's ended in an exception of the other's.
    """

    def __init__(
        self,
        rules: Rules,
        main: socket.socket,
        beside: socket.socket,
        first: int,
        control: Callable[[Control], Message],
    ) -> None:
        self.rules = rules
        self.epoch = 1
        self.dropped: deque[tuple[int, int]] = deque()
        self.table = Table()
        self.kinds = Kinds(self)
        self.crossing = Crossing(self)
        self.heard: Callable[[str, tuple[Any, ...]], None] = lambda op, operands: None
        self.word: Callable[[Any, str], None] = lambda value, name: None
        self.raised = 0
        self._here = threading.local()
        self._made: dict[type, Any] = {}
        self._known: weakref.WeakValueDictionary[int, StandIn] = weakref.WeakValueDictionary()
        self._lock = threading.Lock()
        self.channel = Channel(main, beside, first, self.serve, control)
        self.channel.listen()

    def begin(self) -> None:
        """Go on with another process over there."""
        self.epoch += 1
        self.dropped.clear()
        self.table.clear()
        self.kinds.forget()
        self._known = weakref.WeakValueDictionary()

    def ask(self, op: str, *operands: Any) -> Any:
        """Ask something of an object over there.

        Args:
            op: One of :data:`.messages.OPERATIONS`.
            operands: The object first.

        Raises:
            BaseException: What was raised over there.
            EndedError: The other side is no more.
        """
        self.heard(op, operands)
        whole: list[Any] = []
        try:
            data = self.crossing.written(operands, whole)
        except TooMuchError as error:
            raise self.unfit(f"it hands over {error}") from None
        depth = getattr(self._here, "depth", 0)
        if depth >= DEEPEST:
            raise RecursionError(f"calls between the test and the submission nest more than {DEEPEST} deep")
        self._here.depth = depth + 1
        try:
            self._sent(Ask(self.channel.number, op, data, self._released()))
            while True:
                message = self.channel.receive()
                if type(message) is Ask:
                    self.serve(message)
                elif type(message) is Answer:
                    return self._answered(message, whole)
        finally:
            self._here.depth = depth

    def _sent(self, ask: Ask) -> None:
        try:
            self.channel.send(ask)
        except TooMuchError as error:
            raise self.unfit(f"it hands over {error}") from None

    def special(self, value: Any, name: str, args: tuple[Any, ...]) -> Any:
        """A special method of an object over there; where it is its own word for something, that is noted."""
        found = self.ask("special", value, name, args)
        if found is not NotImplemented:
            self.word(value, name)
        return found

    def _answered(self, answer: Answer, whole: list[Any]) -> Any:
        if answer.how == How.ENDED:
            raise EndedError(answer.value.decode("utf-8", "replace"))
        self.table.released(answer.released)
        if answer.printed:
            self.rules.print(answer.printed)
        count = len(whole)
        try:
            value = self.crossing.read(answer.value, whole)
            if answer.changed:
                _bring_up_to_date(whole, count, self.crossing.read(answer.changed, whole))
        except (MalformedError, TypeError, ValueError) as error:
            raise self.forged(str(error)) from None
        if answer.how == How.VALUE:
            return value
        if not isinstance(value, BaseException):
            raise self.forged("raised what is no exception")
        self.raised += not isinstance(value, (StopIteration, AttributeError))
        raise value

    def serve(self, ask: Ask) -> None:
        """Answer what the other side asks; whatever is raised goes back to it."""
        depth = getattr(self._here, "depth", 0)
        self._here.depth = depth + 1
        try:
            answer = self._served(ask)
            try:
                self.channel.send(answer)
            except TooMuchError as error:
                self.channel.send(Answer(ask.thread, How.ENDED, self.rules.end(error).encode()))
        finally:
            self._here.depth = depth

    def _served(self, ask: Ask) -> Answer:
        whole: list[Any] = []
        how = How.VALUE
        try:
            self.table.released(ask.released)
            operands = self.crossing.read(ask.operands, whole)
        except MalformedError as error:
            raise self.forged(str(error)) from None
        before = [_snapshot(container) for container in whole]
        count = len(whole)
        value: Any
        try:
            value = self._operated(ask.op, operands)
            data = self.crossing.written(value, whole)
        except (EndedError, UnfitError):
            raise
        except BaseException as error:
            if clause := self.rules.end(error):
                return Answer(ask.thread, How.ENDED, clause.encode())
            del whole[count:]
            how, data = How.RAISED, self._raised(error)
        changed = {
            index: _contents(whole[index])
            for index in range(count)
            if _differs(whole[index], before[index])
        }  # fmt: skip
        update = self.crossing.written(tuple(changed.items()), whole) if changed else b""
        return Answer(ask.thread, how, data, update, self.rules.printed(), self._released())

    def _raised(self, error: BaseException) -> bytes:
        """The bytes of an exception; of one that cannot be told, those of one that says so."""
        try:
            return self.crossing.written(error)
        except Exception:
            return self.crossing.written(
                RuntimeError(f"raised an exception that cannot be told: {type(error)}")
            )

    def _operated(self, op: str, operands: Any) -> Any:
        if op not in OPERATIONS or not isinstance(operands, tuple):
            raise self.forged("an operation that is none")
        try:
            operate = OPERATE[op]
            self.rules.allow(op, operands)
        except (KeyError, IndexError, MalformedError):
            raise self.forged(f"an operation '{op}' that is none") from None
        return operate(self, *operands)

    def _released(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        if not self.dropped:
            return found
        # other threads take and add meanwhile
        with contextlib.suppress(IndexError):
            while len(found) < _MOST_RELEASED:
                found.append(self.dropped.popleft())
        return found

    def stand_in(self, number: int, kind: Meta) -> Any:
        """The stand-in for an object over there: the same one for as long as somebody has it."""
        with self._lock:
            known = self._known.get(number)
            if known is not None:
                home_of(known).times += 1
                return known
            if issubclass(kind, BaseException):
                raise MalformedError("an exception that is told as something else")
            made: Any = StandIn.__new__(kind)
            put_home(made, Home(self, self.epoch, number))
            self._known[number] = made
        return made

    def number(self, value: Any) -> int:
        """The number that an object has over there, or its class; looked for anew in another process."""
        if isinstance(value, type):
            assert isinstance(value, Meta)
            return self.kinds.number(value)
        home = home_of(value)
        if home.epoch == self.epoch:
            return home.number
        if home.path is None:
            raise self.unfit(
                f"a {type(value).__name__} that was made in another test's process is used; "
                'with [tests] process = "file" the tests of a file share one'
            )
        found = self.rules.found_again(home.path)
        if not isinstance(found, StandIn):
            raise self.forged(f"another thing in place of {home.path[1]} than in the process before")
        anew = home_of(found)
        home.epoch, home.number, home.times = anew.epoch, anew.number, anew.times
        anew.epoch = 0
        self._known[home.number] = value
        return home.number

    def number_over_there(self, error: BaseException) -> int | None:
        """The number of an exception that came from the other side; ``None`` of one of this side's."""
        try:
            home = home_of(error)
        except AttributeError:
            return None
        return home.number if home.epoch == self.epoch else None

    def made_record(self, record: Record, value: Any) -> Any:
        """A record of a class that is not at hand: what is no field of it is asked for over there."""
        kind = type(value)
        if kind not in self._made:
            self._made[kind] = (record.kind, record.name, tuple(record.fields))
            if record.kind != "E":
                kind.__getattr__ = partialmethod(_beyond_fields, self)
        return value

    def made_of(self, kind: type) -> Any:
        """What tells apart the class over there that a record's class was made after."""
        return self._made.get(kind)

    def unfit(self, clause: str) -> BaseException:
        """What is raised where somebody asks for what cannot be had over a border."""
        return self.rules.unfit(clause)

    def forged(self, clause: str) -> EndedError:
        """Tell the engine that the other side said what nobody may say."""
        self.channel.send(Refusal(self.channel.number, clause[:2_000]))
        return EndedError(clause)


def _beyond_fields(record: Any, peer: Peer, name: str) -> Any:
    """An attribute of a record that is no field: a method, say."""
    if name.startswith("_"):
        raise AttributeError(f"'{type(record).__name__}' object has no attribute '{name}'")
    return peer.ask("get", record, name)


def _snapshot(container: Any) -> Any:
    """What a container holds, to be compared with later."""
    if isinstance(container, dict):
        return list(container.items())
    if isinstance(container, (bytearray, np.ndarray)):
        return bytes(container) if isinstance(container, bytearray) else _bytes_of(container)
    return list(container)


def _differs(container: Any, before: Any) -> bool:
    """Whether a container was changed; no object in it is asked."""
    now = _snapshot(container)
    if isinstance(now, bytes) or len(now) != len(before):
        return bool(now != before)
    if isinstance(container, dict):
        return any(
            key is not old[0] or item is not old[1] for (key, item), old in zip(now, before, strict=True)
        )
    return any(item is not old for item, old in zip(now, before, strict=True))


def _bytes_of(array: Any) -> Any:
    return list(array.ravel()) if array.dtype.hasobject else array.tobytes()


def _contents(container: Any) -> Any:
    """What a container holds now, such that it is not taken for the container."""
    if isinstance(container, dict):
        return tuple(container.items())
    if isinstance(container, bytearray):
        return bytes(container)
    return container.copy() if isinstance(container, np.ndarray) else tuple(container)


def _bring_up_to_date(whole: list[Any], count: int, changes: Any) -> None:
    """Change containers here as their copies were changed over there."""
    for index, contents in changes:
        if not (isinstance(index, int) and 0 <= index < count):
            raise MalformedError("a change of what was not handed over")
        try:
            _change(whole[index], contents)
        except (TypeError, ValueError) as error:
            raise MalformedError(f"a change that cannot be: {error}") from error


def _change(container: Any, contents: Any) -> None:
    if isinstance(container, list):
        list.__setitem__(container, slice(None), contents)
    elif isinstance(container, bytearray):
        container[:] = contents
    elif isinstance(container, np.ndarray):
        container[...] = contents
    else:
        kind: Any = next(each for each in (dict, set, deque) if isinstance(container, each))
        kind.clear(container)
        (kind.extend if kind is deque else kind.update)(container, contents)
