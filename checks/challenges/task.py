"""The task that a challenge makes: a contract and checks like those of a built-in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.behaviour import checks_of as behaviour_of
from judge_tui.checks.challenges.challenge import CASES, OPEN, Challenge
from judge_tui.checks.challenges.description import Description, Trouble, described
from judge_tui.checks.challenges.loading import allowed_only, parses
from judge_tui.checks.challenges.numbers.checks import checks_of as numbers_of
from judge_tui.checks.challenges.numbers.contract import contract as contract_of
from judge_tui.checks.challenges.numbers.truths import Truths
from judge_tui.checks.challenges.programs.checks import checks_of as programs_of
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.contract import Contract, Sample
from judge_tui.checks.generic import with_generic
from judge_tui.checks.generic.own_tests import without_scripts
from judge_tui.checks.lines import split_lines
from judge_tui.checks.sandbox.packages import FRAMEWORKS
from judge_tui.checks.task import Task, load_task

__all__ = ["made", "statement", "task_of", "trouble"]

_SENTENCE = 200
#: Generic checks of what is called by roles.
_OF_ROLES = frozenset({"purity", "throughput"})


def made(challenge: Challenge) -> Task:
    """The task of a challenge; what is wrong with it is the verdict of its checks, never an exception here.

    Args:
        challenge: The challenge; one without any kind has the generic checks alone.
    """
    authors = Authors(challenge)
    description = described(challenge, authors)
    authors.close()
    return _assembled(challenge, description, authors)


def trouble(challenge: Challenge) -> str:
    """What is wrong with a challenge, one sentence; empty where it can judge."""
    authors = Authors(challenge)
    description = described(challenge, authors)
    authors.close()
    troubles = [each for each in (description.trouble, description.unread) if each is not None]
    return "; ".join(str(each.error()) for each in troubles)


def task_of(name: str, challenge: Challenge | None) -> Task:
    """A task by name: built in, installed, or made of a challenge.

    Args:
        name: Task id.
        challenge: What it is judged by, where it is the user's own.

    Raises:
        UsageError: No such task is installed.
        EngineError: It cannot be imported.
    """
    return load_task(name) if challenge is None else made(challenge)


def _assembled(challenge: Challenge, description: Description, authors: Authors) -> Task:
    contract, own = _nothing(authors), list[Check]()
    if description.numbers is not None:
        truths = Truths(authors, description.numbers)
        contract = contract_of(challenge, description.numbers, truths)
        own += numbers_of(challenge, truths)
    elif description.trouble is not None:
        # what it leaves open is not known: a framework that is missing here is nobody's failure
        contract = replace(contract, frameworks=FRAMEWORKS, packages=FRAMEWORKS)
        own += [_in_trouble("accuracy", "right in every case", description.trouble)]
    if description.behaviour is not None:
        own += behaviour_of(challenge, authors, description.behaviour)
    elif description.unread is not None:
        own += [_in_trouble("tests", "the challenge's tests", description.unread)]
    if CASES in challenge.kinds:
        own += programs_of(challenge, authors, taken=[check.id for check in own])
    title = challenge.settings.title or _title(challenge, description)
    return Task(
        challenge.id, title, contract, _with_generic(own, contract, challenge), answers=_answers(title, own)
    )


def _with_generic(own: Sequence[Check], contract: Contract, challenge: Challenge) -> tuple[Check, ...]:
    """The checks of a challenge, and those that hold for all tasks as far as they can say anything."""
    instead = [without_scripts] if CASES in challenge.kinds else []
    if challenge.kinds == (CASES,):
        instead.append(parses)
    elif contract.roles:
        instead.append(allowed_only(contract.packages))
    every = with_generic(*own, instead=instead)
    return every if contract.roles else tuple(check for check in every if check.id not in _OF_ROLES)


def _answers(title: str, own: Sequence[Check]) -> dict[str, tuple[str, ...]]:
    return {title: tuple(check.id for check in own)} if own else {}


def _nothing(authors: Authors) -> Contract:
    """A contract that asks for nothing: the checks do not call the submission by roles."""

    def sample(rng: np.random.Generator) -> Sample:
        return Sample({}, {})

    free = frozenset(OPEN)
    return Contract((), sample, leave=authors.close, frameworks=free, packages=free)


def _in_trouble(id: str, title: str, trouble: Trouble) -> Check:
    """A check that can only say what is wrong with the challenge."""

    def body(bench: Bench, found: Findings) -> str:
        raise trouble.error()

    return Check(id, title, "What the challenge establishes, once it can be run.", body, host=True)


def _title(challenge: Challenge, description: Description) -> str:
    """The first heading of ``challenge.md``, else the docstring's first line, else the task's id."""
    return next(filter(None, (told.strip() for told in _titles(challenge, description))), challenge.id)


def _titles(challenge: Challenge, description: Description) -> Iterator[str]:
    for line in split_lines(statement(challenge)):
        if line.startswith("#"):
            yield line.lstrip("#")[:_SENTENCE]
            break
    if description.numbers is not None:
        yield description.numbers.doc.strip().partition("\n")[0][:_SENTENCE]


def statement(challenge: Challenge) -> str:
    """The text of ``challenge.md``; empty where there is none."""
    folder = challenge.folder
    return folder.read_text("challenge.md") if "challenge.md" in folder.files else ""
