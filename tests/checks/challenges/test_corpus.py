"""Whole challenges as people write them, with right and wrong answers as people give them, and hostile ones.

The tier ``all`` judges every answer by every check, and tries every challenge as ``challenge check`` does.
Else a part is held: right answers whole, wrong ones by the checks that must catch them.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.task import made
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.trying.challenge import Wrong, tried
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.challenges.settings import read_settings

CORPUS = Path(__file__).parent / "corpus"
HOSTILE = Path(__file__).parent / "hostile"
CHALLENGES = sorted(folder.name for folder in CORPUS.iterdir())
RIGHT = sorted(CORPUS.glob("*/right/*"))
WRONG = sorted(CORPUS.glob("*/wrong/*"))
ATTACKS = sorted(folder for folder in HOSTILE.iterdir() if folder.name not in {"challenge", "right"})
#: What every tier but ``quick`` holds: one answer of each kind of challenge that costs little.
SAMPLED = {
    "edit_distance/right/rows",
    "edit_distance/wrong/counts_differences",
    "intervals/right/dynamic",
    "intervals/wrong/touching_is_overlapping",
    "lru_cache/wrong/first_in_first_out",
    "matrix_exponential/right/taylor_in_lists",
    "moving_average/wrong/gradient_forgets_the_beginning",
    "rate_limiter/wrong/the_end_still_counts",
    "shortest_path/wrong/fewest_steps",
    "softmax/right/python_lists",
    "streaming_median/wrong/index_error_when_empty",
    "text_wrapper/wrong/off_by_one",
    "top_k/right/lexsort_and_named_tuple",
    "top_k/wrong/marks_in_its_argument",
}
#: Attacks of which a check is held in every tier but ``quick``.
SAMPLED_ATTACKS = {"equal_to_everything", "forged_exceptions", "subclasses_that_lie"}
#: What the checks do not see yet, and why.
HOLES: dict[str, str] = {}
FINE = {Verdict.PASS, Verdict.SKIP}
#: What no challenge decides.
OF_NOBODY = ("own_tests", "throughput", "size")


def challenge_in(folder: Path) -> Challenge:
    return Challenge(folder.name, str(folder), read_settings(folder / "challenge.toml"))


def named(answer: Path) -> str:
    return answer.relative_to(CORPUS).as_posix()


def rare(answers: list[Path], often: set[str], at: Path) -> list[object]:
    """Answers as parameters, those that are not judged often marked."""
    names = [answer.relative_to(at).as_posix() for answer in answers]
    return [
        pytest.param(answer, id=name, marks=marks(name, often))
        for answer, name in zip(answers, names, strict=True)
    ]


def marks(name: str, often: set[str]) -> list[pytest.MarkDecorator]:
    hole = [pytest.mark.xfail(reason=HOLES[name])] if name in HOLES else []
    return hole if name in often else [*hole, pytest.mark.campaign]


def must_fail(answer: Path) -> tuple[str, ...]:
    return tuple(tomllib.loads((answer / "submission.toml").read_text())["must_fail"])


def judged(challenge: Challenge, answer: Path, checks: tuple[str, ...] = ()) -> dict[str, Outcome]:
    task = made(challenge)
    wanted = checks or tuple(check.id for check in task.checks if check.id not in OF_NOBODY)
    return dict(judge(task, Submission(answer.name, task.id, answer), seed=1, checks=wanted))


def told(outcomes: dict[str, Outcome]) -> str:
    return "\n".join(f"{name}: {each.verdict}: {each.summary}" for name, each in outcomes.items())


def test_there_are_answers_enough() -> None:
    assert len(CHALLENGES) >= 10
    assert len(RIGHT) >= 25
    in_python = Counter(answer.parent.parent.name for answer in RIGHT if any(answer.rglob("*.py")))
    assert all(in_python[name] >= 3 for name in CHALLENGES), "three each are edited by `make holes`"
    assert len(WRONG) >= 40
    assert all(must_fail(answer) for answer in WRONG)
    assert len(ATTACKS) >= 12
    assert {named(answer) for answer in [*RIGHT, *WRONG]} >= SAMPLED
    assert {attack.name for attack in ATTACKS} >= SAMPLED_ATTACKS


@pytest.mark.thorough
@pytest.mark.parametrize("answer", rare(RIGHT, SAMPLED, CORPUS))
def test_a_right_answer_passes(answer: Path) -> None:
    outcomes = judged(challenge_in(answer.parent.parent), answer)
    # `key in cache` and the like are at best a warning, whoever answers
    off = [each for each in outcomes.values() if each.verdict not in FINE]
    assert all(each.verdict is Verdict.WARN and "own word" in each.summary for each in off), told(outcomes)


@pytest.mark.thorough
@pytest.mark.parametrize("answer", rare(WRONG, SAMPLED, CORPUS))
def test_a_wrong_answer_fails_by_the_check_that_sees_it(answer: Path) -> None:
    outcomes = judged(challenge_in(answer.parent.parent), answer, must_fail(answer))
    assert {each.verdict for each in outcomes.values()} == {Verdict.FAIL}, told(outcomes)


@pytest.mark.campaign
@pytest.mark.parametrize("answer", rare(WRONG, set(), CORPUS))
def test_a_wrong_answer_is_nobody_elses_fault(answer: Path) -> None:
    outcomes = judged(challenge_in(answer.parent.parent), answer)
    assert Verdict.ERROR not in {each.verdict for each in outcomes.values()}, told(outcomes)
    assert {outcomes[check].verdict for check in must_fail(answer)} == {Verdict.FAIL}, told(outcomes)


@pytest.mark.campaign
@pytest.mark.parametrize("name", CHALLENGES)
def test_a_challenge_is_fair_and_hard(name: str) -> None:
    folder = CORPUS / name
    right = sorted((folder / "right").iterdir())
    wrong = [Wrong(answer, must_fail(answer)) for answer in sorted((folder / "wrong").iterdir())]
    off = [
        each
        for each in tried(challenge_in(folder), right, wrong)
        if not each.fine and f"{name}/{each.kind}/{each.name}" not in HOLES
    ]
    assert not off, "\n".join(f"{each.kind} {each.name}: {each.told}" for each in off)


@pytest.mark.thorough
def test_what_the_hostile_ones_pretend_to_be_passes() -> None:
    outcomes = judged(challenge_in(HOSTILE / "challenge"), HOSTILE / "right")
    assert {each.verdict for each in outcomes.values()} == {Verdict.PASS}, told(outcomes)


@pytest.mark.thorough
@pytest.mark.parametrize("attack", rare(ATTACKS, SAMPLED_ATTACKS, HOSTILE))
def test_a_hostile_answer_forges_no_pass(attack: Path) -> None:
    outcomes = judged(challenge_in(HOSTILE / "challenge"), attack)
    outcomes.pop("loads")
    assert len(outcomes) == 6
    assert {each.verdict for each in outcomes.values()} <= {Verdict.FAIL, Verdict.WARN}, told(outcomes)
