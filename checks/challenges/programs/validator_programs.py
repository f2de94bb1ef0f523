"""Validators that are programs, as in packages of Kattis: built and run in a jail of their own.

They get the input, the answer and a folder for messages as arguments, and what came out on standard input;
their exit status says whether it is right.

Source: the problem package format, "Output Validators"
(https://www.kattis.com/problem-package-format/spec/legacy.html).
"""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.programs.building import Built, NotBuilt, kept
from judge_tui.checks.challenges.programs.choosing import Undecided, chosen
from judge_tui.checks.challenges.programs.recipes import recipes_of
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Skipped
from judge_tui.checks.sandbox import Limits
from judge_tui.checks.sandbox.programs import run_program
from judge_tui.checks.submission import Submission

__all__ = ["FOLDERS", "refusal", "validator"]

FOLDERS = ("output_validators", "output_validator")
_RIGHT, _WRONG = 42, 43
_INPUT, _ANSWER, _MESSAGES = "judge.in", "judge.ans", "judge.feedback/"
_TOLD = tuple(f"{_MESSAGES}{name}.txt" for name in ("judgemessage", "teammessage"))
_SCRIPTS = frozenset({"build", "run"})
_SECONDS, _MEMORY = 60.0, 2 << 30
_MOST_TOLD = 8 << 10


def validator(challenge: Challenge, folder: Submission) -> Built:
    """The challenge's validator, built.

    Args:
        challenge: The challenge.
        folder: A snapshot of its files.

    Raises:
        ChallengeFault: There is none, it is none that can be run here, or it does not compile.
        Skipped: Its compiler is not installed.
    """
    root = next((name for name in FOLDERS if any(file.startswith(f"{name}/") for file in folder.files)), "")
    if not root:
        raise ChallengeFault(
            "'compare' is \"validator\", and there is no validator.py.", file="challenge.toml"
        )
    place = _place(folder, root)
    own = Submission("", challenge.id, folder.path / place)
    if scripts := _SCRIPTS.intersection(own.files):
        raise ChallengeFault("a script of its own builds or runs it.", file=f"{place}/{min(scripts)}")
    try:
        program = chosen(own, recipes_of(challenge))
        return kept(own.digest, program, {name: own.read_bytes(name) for name in own.files})
    except NotBuilt as fault:
        raise ChallengeFault(
            f"the validator {fault.message}.",
            file=f"{place}/{fault.file}",
            line=fault.line,
            output=fault.output,
        ) from fault
    except Skipped as fault:
        raise Skipped(f"the challenge itself {fault.message}") from fault
    except Undecided as fault:
        raise ChallengeFault(
            f"which file is the validator? There are {', '.join(fault.candidates)}.", file=place
        ) from fault


def _place(folder: Submission, root: str) -> str:
    """The folder of the one program that there is."""
    inside = [file.split("/")[1:] for file in folder.files if file.startswith(f"{root}/")]
    folders = sorted({parts[0] for parts in inside if len(parts) > 1})
    if any(len(parts) == 1 for parts in inside):
        return root
    if len(folders) > 1:
        raise ChallengeFault(f"there are several validators: {' and '.join(folders)}.", file=root)
    return f"{root}/{folders[0]}"


def refusal(built: Built, given: bytes, expected: bytes | None, got: bytes, flags: Sequence[str] = ()) -> str:
    """What a validator says against an answer; empty where it accepts it.

    Args:
        built: The validator.
        given: What the program read.
        expected: The answer.
        got: What the program printed.
        flags: Its further arguments.

    Raises:
        ChallengeFault: It ends in another way than a validator does.
    """
    own = {_INPUT: given, _ANSWER: expected or b"", f"{_MESSAGES}.empty": b""}
    argv = [word.replace("{memory}", str(_MEMORY >> 20)) for word in built.argv]
    ran = run_program(
        [*argv, _INPUT, _ANSWER, _MESSAGES, *flags],
        seconds=_SECONDS,
        files={**built.files, **own},
        wanted=dict.fromkeys(_TOLD, _MOST_TOLD),
        shown=built.shown,
        environment=built.environment,
        limits=Limits(cpu_seconds=600, address_space=None, stack=-1),
        memory_bytes=_MEMORY,
        stdin=got,
    )
    if ran.status == _RIGHT:
        return ""
    if ran.status == _WRONG:
        said = next(filter(None, (ran.files.get(name, b"").strip() for name in _TOLD)), b"")
        return " ".join(said.decode("utf-8", "backslashreplace").split())[:500] or "it is not accepted"
    raise ChallengeFault(
        f"the validator {ran.ended}, where 42 and 43 are what it may say.",
        file=built.program.main, output=ran.output,
    )  # fmt: skip
