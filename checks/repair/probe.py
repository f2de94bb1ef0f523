"""What a failing check asks of a submission, to be asked of its edits: what changes no answer mends none.

It falls into pieces that share no object of the submission's. Some of them are drawn, so that a trial of an
edit takes a few hundredths of a second; whether an edit mends anything is for the check to say.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Target, Worker
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Fault
from judge_tui.checks.paths.counting import SEEN, counting
from judge_tui.checks.repair.recording import ANSWERS, Asked, other, replied, told_by

__all__ = ["Answer", "Change", "Probe", "Trial", "pieces"]

#: Seconds that the drawn pieces take of the submission as it is.
_SAMPLED = 0.04
#: Seconds that one request may take: of the submission as it is, and of an edit.
_PATIENCE, _SHORT = 10.0, 0.5
#: So many pieces that are all answered otherwise tell that the edit changes everything.
_ENOUGH = 6
#: Seconds of processor time that a process has left when it makes room for another.
_WORN = 5.0


class Change(StrEnum):
    """What an edit does to the answers."""

    NONE = "none of the answers is another one"
    BROKEN = "it raises where it did not, ends, or hangs"
    SOME = "some answers are others"
    ALL = "all answers are others"


@dataclass(frozen=True, slots=True)
class Probe:
    """What a check asked and what was answered.

    Attributes:
        check: Id of the check.
        asked: All that was asked in the shared process.
        drawn: Pieces of it that are asked of every edit.
        others: The other pieces.
        wrong: Pieces that are known to be answered wrongly: what mends it answers each of them otherwise.
        right: Pieces that are known to be answered rightly: what mends it mostly leaves them as they are.
    """

    check: str
    asked: tuple[Asked, ...]
    drawn: tuple[tuple[Asked, ...], ...]
    others: tuple[tuple[Asked, ...], ...]
    wrong: tuple[tuple[Asked, ...], ...] = ()
    right: tuple[tuple[Asked, ...], ...] = ()

    @classmethod
    def of(
        cls, bench: Bench, check: str, asked: Sequence[Asked], fine: Sequence[bool | None], file: str,
        source: str,
    ) -> Self:  # fmt: skip
        """Ask all of it again, twice, and draw pieces.

        Args:
            bench: Of the submission.
            check: The check.
            asked: What it asked, without what was answered.
            fine: Of each request, whether the answer that it belongs to is right, where that is known.
            file: One of the submission's files.
            source: What is in it.

        Raises:
            Fault: The submission cannot be asked again.
        """
        first, again = (_answers(bench, asked, file, source) for _ in range(2))
        answered = [
            replace(one, reply=reply, filled=filled, steady=one.body["op"] in ANSWERS and not told)
            for one, (reply, filled, _seconds), (reply_again, filled_again, _) in zip(
                asked, first, again, strict=False
            )
            for told in [other(replace(one, reply=reply, filled=filled), reply_again, filled_again)]
        ]
        took = {id(one): seconds for one, (_reply, _filled, seconds) in zip(answered, again, strict=False)}
        groups = pieces(answered)
        costs = [sum(took[id(one)] for one in group) for group in groups]
        rng = np.random.default_rng(bench.seed)
        told = {id(one): known for one, known in zip(answered, fine, strict=False)}
        wrong, right = (
            [at for at, group in enumerate(groups) if {told[id(one)] for one in group} == {known}]
            for known in (False, True)
        )
        chosen = _chosen(costs, range(len(groups)), rng)
        of_wrong, of_right = (_chosen(costs, among, rng) for among in (wrong, right))
        return cls(
            check,
            tuple(answered),
            *(tuple(tuple(groups[at]) for at in each) for each in (
                chosen, [at for at in range(len(groups)) if at not in chosen], of_wrong, of_right,
            )),
        )  # fmt: skip

    def lines(self, bench: Bench, file: str, source: str) -> tuple[frozenset[int], frozenset[int]]:
        """First lines of a file's statements that run where it is wrong, and those that run there alone.

        None where it cannot be told.

        Args:
            bench: Of the submission.
            file: The file.
            source: What is in it.
        """
        with contextlib.suppress(Fault, JudgeError, SyntaxError, TypeError):
            ran = _lines(bench, (self.wrong or (self.asked,)), file, counting(source))
            elsewhere = (
                _lines(bench, self.right, file, counting(source)) if self.wrong and self.right else ran
            )
            return ran, ran - elsewhere
        return frozenset(), frozenset()


def _lines(bench: Bench, groups: Sequence[Sequence[Asked]], file: str, counted: str) -> frozenset[int]:
    """The lines that run while all of it is asked.

    Raises:
        Fault: It cannot be told.
    """
    with bench.fresh() as worker:
        worker.edit(file, counted)
        for one in itertools.chain.from_iterable(groups):
            replied(worker, one, budget=_PATIENCE)
        return frozenset(worker.value(worker.call(Target(file, SEEN), method="copy").handle))


def _answers(
    bench: Bench, asked: Sequence[Asked], file: str, source: str
) -> list[tuple[Any, tuple[bytes, ...], float]]:
    """Reply, memory and seconds of each request, until the process ends."""
    found = []
    with bench.fresh() as worker:
        worker.edit(file, source)
        for one in asked:
            started = time.perf_counter()
            reply, filled = replied(worker, one, budget=_PATIENCE)
            found.append((reply, filled, time.perf_counter() - started))
            if not worker.alive:
                break
    return found


def _chosen(costs: Sequence[float], among: Sequence[int], rng: np.random.Generator) -> list[int]:
    """Pieces for a trial: for half of its time those that take the least, for the rest any; at least one.

    Args:
        costs: Seconds of each.
        among: Which of them may be chosen.
        rng: Draws them.
    """
    found: list[int] = []
    left = _SAMPLED / 2
    for at in (*sorted(among, key=lambda at: costs[at]), -1, *rng.permutation(among)):
        if at < 0:
            left += _SAMPLED / 2
        elif at not in found and (costs[at] <= left or not found):
            found.append(int(at))
            left -= costs[at]
    return found


def pieces(asked: Sequence[Asked]) -> list[list[Asked]]:
    """Requests in groups that share no kept object, each in its order, without those that only forget."""
    group_of: dict[int, int] = {}
    groups: dict[int, list[int]] = {}
    for at, one in enumerate(asked):
        if one.body["op"] == "drop":
            continue
        handles = set(_handles(one.body))
        joined = {group_of[handle] for handle in handles if handle in group_of}
        target = min(joined, default=at)
        groups.setdefault(target, [])
        for group in joined - {target}:
            groups[target] += groups.pop(group)
        group_of |= {handle: target for handle, group in group_of.items() if group in joined}
        group_of |= dict.fromkeys(handles, target)
        groups[target].append(at)
    return [[asked[at] for at in sorted(members)] for members in groups.values()]


def _handles(body: Any) -> Iterator[int]:
    """Numbers of the kept objects that a request names or makes."""
    if isinstance(body, Mapping):
        for key in ("$h", "keep"):
            if isinstance(number := body.get(key), int):
                yield number
        for part in body.values():
            yield from _handles(part)
    elif isinstance(body, list | tuple):
        for part in body:
            yield from _handles(part)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an edit does to the answers.

    Attributes:
        change: How much of them it changes.
        digest: The same for edits that answer the same; of no meaning where :attr:`change` is none.
    """

    change: Change
    digest: bytes = b""


class Trial:
    """Asks edits of a submission, one after another in one process, what a probe holds.

    Args:
        bench: Of the submission.
        probe: What is asked.
    """

    def __init__(self, bench: Bench, probe: Probe) -> None:
        self._bench, self._probe = bench, probe
        self._open = contextlib.ExitStack()
        self._worker: Worker | None = None

    @property
    def known(self) -> bool:
        """Whether it is known of some pieces that they are answered wrongly."""
        return bool(self._probe.wrong)

    def close(self) -> None:
        """End the process."""
        self._open.close()
        self._worker = None

    def answer(self, file: str, source: str, *, whole: bool = False) -> Answer:
        """What it does to the answers that a file holds another source.

        Args:
            file: The file.
            source: What it holds.
            whole: Ask what was not drawn, up to the first piece that is answered otherwise.
        """
        worker = self._ready()
        same = others = 0
        digest = hashlib.sha256()
        try:
            worker.edit(file, source)
            if self._probe.wrong:
                return self._held(worker)
            for piece in self._probe.others if whole else self._probe.drawn:
                if _changed(worker, piece, digest.update):
                    others += 1
                else:
                    same += 1
                if (others >= _ENOUGH and not same) or (whole and others):
                    break
        except (Fault, JudgeError):
            return Answer(Change.BROKEN)
        if not others:
            return Answer(Change.NONE)
        return Answer(Change.SOME if same else Change.ALL, digest.digest())

    def _held(self, worker: Worker) -> Answer:
        """The same by pieces of which is known whether they are answered rightly."""
        digest = hashlib.sha256()
        for piece in self._probe.wrong:
            if not _changed(worker, piece, digest.update):
                return Answer(Change.NONE)
        # an answer has more in it than what is held against the truth: that it is another proves nothing
        same = not any(_changed(worker, piece, digest.update) for piece in self._probe.right)
        return Answer(Change.SOME if same else Change.ALL, digest.digest())

    def _ready(self) -> Worker:
        if self._worker is None or not self._worker.alive or self._worker.processor_left < _WORN:
            self.close()
            self._worker = self._open.enter_context(self._bench.fresh())
        return self._worker


def _changed(worker: Worker, piece: Sequence[Asked], heard: Callable[[bytes], None]) -> bool:
    """Whether any answer of a piece is another one.

    Args:
        worker: Who is asked.
        piece: What.
        heard: Told of every answer.

    Raises:
        Fault: Something is raised that was not before, or the process is gone.
    """
    changed = False
    for one in piece:
        reply, filled = replied(worker, one, budget=_SHORT)
        if not one.steady:
            continue
        if isinstance(reply, str) and not isinstance(one.reply, str):
            raise Fault(reply)
        for part in filled or (repr(told_by(one, reply)).encode(),):
            heard(part)
        changed = changed or bool(other(one, reply, filled))
    return changed
