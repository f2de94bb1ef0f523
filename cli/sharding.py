"""One of several parts of a ``check``, each run by itself, and what its lines say of the whole.

Every part has all tasks in view and judges its share of the answers, under one seed. Its first line says
which part it is of what: the same answers, byte for byte, judged by the same engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import click
import msgspec

from judge_tui.checks.engine_version import EngineVersion, engine_version
from judge_tui.checks.submission import Submission
from judge_tui.cli.selection import Selection

__all__ = ["SHARD", "Shard", "ShardHead", "ShardType", "answer_digest", "part_of", "shard_head"]


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number``, from 1, of ``of`` parts."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class ShardType(click.ParamType[Shard]):
    """Reads ``2/4``."""

    name = "I/N"

    def convert(self, value: str | Shard, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """Read it.

        Raises:
            click.BadParameter: It is no part of a number of parts.
        """
        if isinstance(value, Shard):
            return value
        number, _slash, of = value.partition("/")
        if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            self.fail(f"'{value}' is no part: write 2/4 for the second of four.", param, ctx)
        return Shard(int(number), int(of))


SHARD = ShardType()


class ShardHead(msgspec.Struct, frozen=True):
    """What the first line of a part says beside what every such line does.

    Attributes:
        shard: Which part of how many, as ``2/4``.
        selection: ``sha256:…`` over what all parts together judge, and by which checks.
        answers: ``task/model`` → ``sha256:…`` of its files, bindings and challenge, of those of this part.
        engine: What judges.
        seed: Of all parts.
    """

    shard: str
    selection: str
    answers: dict[str, str]
    engine: EngineVersion
    seed: int

    @property
    def part(self) -> Shard:
        """Which part of how many."""
        number, _slash, of = self.shard.partition("/")
        return Shard(int(number), int(of))


def shard_head(selection: Selection, checks: Sequence[str], shard: Shard, seed: int) -> ShardHead:
    """What a part says of itself.

    Args:
        selection: What all parts together judge.
        checks: Ids; empty for all.
        shard: Which part.
        seed: Of all parts.

    Raises:
        WorkspaceError: A submission cannot be read.
    """
    every = {
        f"{task}/{one.model}": answer_digest(one)
        for task, submissions in selection.tasks.items()
        for one in submissions
    }
    lines = [f"{name}\0{digest}" for name, digest in every.items()] + ["\0".join(checks)]
    mine = list(every)[shard.number - 1 :: shard.of]
    answers = {name: every[name] for name in mine}
    return ShardHead(str(shard), _digest(lines), answers, engine_version(), seed)


def answer_digest(submission: Submission) -> str:
    """``sha256:…`` over all that an answer's verdicts depend on, but for the engine and the seed.

    Raises:
        WorkspaceError: It cannot be read.
    """
    challenge = submission.judged_by.digest if submission.judged_by is not None else ""
    return _digest([submission.digest, submission.binding_digest, challenge])


def _digest(lines: Sequence[str]) -> str:
    return f"sha256:{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"


def part_of(selection: Selection, shard: Shard) -> Selection:
    """The share of a part: every so many-th answer, so that no part has all of a slow task."""
    every = [(task, one) for task, submissions in selection.tasks.items() for one in submissions]
    mine: dict[str, list[Submission]] = {}
    for task, submission in every[shard.number - 1 :: shard.of]:
        mine.setdefault(task, []).append(submission)
    return replace(selection, tasks={task: tuple(submissions) for task, submissions in mine.items()})
