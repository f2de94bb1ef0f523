"""Who says whether an answer is right: a comparison with the ``.ans`` file, or the author's own validator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.programs import validator_programs
from judge_tui.checks.challenges.programs.building import Built
from judge_tui.checks.challenges.programs.cases import Case, Group
from judge_tui.checks.challenges.programs.comparing import Comparison, Difference, comparison
from judge_tui.checks.challenges.programs.validating import refusal
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.submission import Submission

__all__ = ["Finding", "Judge", "judge_of"]

_SETTINGS = "challenge.toml"
#: How a comparison begins that is none: a validator says what is right.
_VALIDATOR = "validator"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is said of an answer.

    Attributes:
        reason: Why it is not right, as a clause; empty where it is.
        difference: Where it is not the one that was expected, where it was compared.
        note: Who says so, where that is no comparison.
    """

    reason: str = ""
    difference: Difference | None = None
    note: str = ""


_RIGHT = Finding()
#: Says what is wrong with an answer: case, what was read, what was expected, what came out.
_Asked = Callable[[bytes, bytes | None, bytes], Finding]


@dataclass(frozen=True, slots=True)
class Judge:
    """The judge of a group's answers.

    Attributes:
        folder: The challenge's files.
        asked: Who says what is wrong.
        how: How they are judged, as a clause.
    """

    folder: Submission
    asked: _Asked
    how: str

    def given(self, case: Case) -> bytes:
        """What the program reads."""
        return self.folder.read_bytes(case.input)

    def expected(self, case: Case) -> bytes | None:
        """What must come out; ``None`` where no file says it."""
        return self.folder.read_bytes(case.answer) if case.answer else None

    def held(self, case: Case, given: bytes, got: bytes) -> Finding:
        """What is said of an answer.

        Args:
            case: The case.
            given: What the program read.
            got: What it printed.

        Raises:
            ChallengeFault: The validator is off.
        """
        return self.asked(given, self.expected(case), got)


def judge_of(challenge: Challenge, authors: Authors, group: Group) -> Judge:
    """The judge of a group: the validator that is nearest to it, else the comparison that is asked for.

    Args:
        challenge: The challenge.
        authors: Its author's processes.
        group: The group.

    Raises:
        ChallengeFault: A case is not whole, or there is no such comparison.
    """
    asked = _asked_for(challenge, group.name)
    for case in group.cases:
        _whole(case, validated=bool(group.validator) or asked.startswith(_VALIDATOR))
    if group.validator:
        return Judge(authors.folder, _by_validator(authors, group.validator), f"by {group.validator}")
    if asked.startswith(_VALIDATOR):
        built = validator_programs.validator(challenge, authors.folder)
        return Judge(authors.folder, _by_program(built, asked.split()[1:]), f"by {built.program.main}")
    try:
        compare = comparison(asked)
    except ValueError as error:
        raise ChallengeFault(f"{error}.", file=_SETTINGS) from error
    return Judge(authors.folder, _by_comparison(compare), asked)


def _whole(case: Case, *, validated: bool) -> None:
    if not case.input:
        name = case.answer.removesuffix(".ans") + ".in"
        raise ChallengeFault(
            f"there is no {name} beside it: an answer needs what a program reads, be it empty.",
            file=case.answer,
        )
    if not case.answer and not validated:
        name = case.input.removesuffix(".in") + ".ans"
        raise ChallengeFault(
            f"there is no {name} beside it, and no other ending is read: without one, a validator.py has to "
            "say what is right.",
            file=case.input,
        )


def _asked_for(challenge: Challenge, group: str) -> str:
    """How answers are compared: as the group says, else as the folder around it, else the challenge."""
    settings, name = challenge.settings, group
    while name:
        if name in settings.group_compare:
            return settings.group_compare[name]
        name = name.rpartition("/")[0]
    return settings.compare


def _by_validator(authors: Authors, file: str) -> _Asked:
    def asked(given: bytes, expected: bytes | None, got: bytes) -> Finding:
        reason = refusal(authors, file, given, expected, got)
        return Finding(reason, note=f"said by {file}") if reason else _RIGHT

    return asked


def _by_program(built: Built, flags: Sequence[str]) -> _Asked:
    def asked(given: bytes, expected: bytes | None, got: bytes) -> Finding:
        reason = validator_programs.refusal(built, given, expected, got, flags)
        return Finding(reason, note=f"said by {built.program.main}") if reason else _RIGHT

    return asked


def _by_comparison(compare: Comparison) -> _Asked:
    def asked(given: bytes, expected: bytes | None, got: bytes) -> Finding:
        difference = compare(expected or b"", got)
        return Finding(difference.told(), difference) if difference else _RIGHT

    return asked
