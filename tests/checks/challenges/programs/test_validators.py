"""The author's own validator: right, wrong, raising, and with no word."""

from __future__ import annotations

import pytest

from judge_tui.checks.challenges.programs import validating
from judge_tui.checks.challenges.programs.cases import groups_of
from judge_tui.checks.verdict import CHALLENGE, Verdict

from .conftest import Judged

#: Any even number that is larger than what was read.
VALIDATOR = """
def validate(given, expected, got):
    assert got.strip().isdigit(), f"{got.strip()} is no number"
    value = int(got)
    if value % 2:
        return f"{value} is odd"
    return value > int(given)
"""
CASES = {"cases/1.in": "10\n", "cases/validator.py": VALIDATOR}


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("12", ""),
        ("13", "13 is odd"),
        ("8", "it is not accepted"),
        ("x", "x is no number"),
    ],
)
def test_a_validator_says_what_is_right(judged: Judged, printed: str, told: str) -> None:
    (outcome,) = judged(CASES, {"a.py": f"print('{printed}')"})
    assert outcome.verdict is (Verdict.FAIL if told else Verdict.PASS), outcome
    assert told in outcome.summary
    wrong = [item for item in outcome.evidence if item.ok is False]
    assert not told or wrong[0].note == "said by cases/validator.py"


def test_what_a_validator_is_handed_is_input_answer_and_output_as_text(judged: Judged) -> None:
    text = "def validate(*given):\n    return repr(given)"
    (outcome,) = judged({"cases/1.in": "ä", "cases/1.ans": "", "validator.py": text}, {"a.py": "print('b')"})
    assert "('ä', '', 'b\\n')" in outcome.summary
    (outcome,) = judged({"cases/1.ans": b"\xff"}, {})
    assert "(b'\\xc3\\xa4', b'\\xff', b'b\\n')" in outcome.summary


def test_without_an_answer_the_validator_gets_none(judged: Judged) -> None:
    text = "def validate(given, expected, got):\n    return expected is None"
    (outcome,) = judged({"cases/1.in": "", "validator.py": text}, {"a.py": "pass"})
    assert outcome.verdict is Verdict.PASS


def test_output_that_is_not_text_is_refused_without_asking(judged: Judged) -> None:
    (outcome,) = judged(CASES, {"a.py": "import sys; sys.stdout.buffer.write(b'1\\xff')"})
    assert "printed what is not UTF-8: byte 0xff at offset 1" in outcome.summary


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def validate(given, expected, got):\n    return 1 / 0", "ZeroDivisionError"),
        ("def validate(given, expected, got):\n    return [1]", "validate answers with a list"),
        ("def other(): pass", "validate"),
        ("def validate(:", "validator.py cannot be imported"),
        ("import nowhere_to_be_found\ndef validate(*given): pass", "nowhere_to_be_found"),
    ],
)
def test_what_a_validator_does_wrong_is_the_challenges_fault(judged: Judged, text: str, told: str) -> None:
    (outcome,) = judged({"cases/1.in": "", "cases/validator.py": text}, {"a.py": "pass"})
    assert told in outcome.summary
    if "nowhere" in text:
        assert outcome.verdict is Verdict.SKIP
    else:
        assert (outcome.verdict, outcome.fault) == (Verdict.ERROR, CHALLENGE)
        assert "validator.py" in outcome.summary


def test_the_nearest_validator_counts() -> None:
    files = ["validator.py", "cases/a/1.in", "cases/a/validator.py", "cases/a/deep/1.in", "cases/b/1.in"]
    assert {group.name: group.validator for group in groups_of(files)} == {
        "a": "cases/a/validator.py", "a/deep": "cases/a/validator.py", "b": "validator.py"
    }  # fmt: skip


def test_cases_are_in_the_order_of_their_numbers() -> None:
    files = [f"cases/g{n}/{m}.in" for n in (10, 9) for m in (10, 2, 1)] + ["cases/readme.md", "other/1.in"]
    found = groups_of(files)
    assert [group.name for group in found] == ["g9", "g10"]
    assert [case.name for case in found[0].cases] == ["1", "2", "10"]


def test_more_than_a_validator_is_handed_is_the_submissions_fault(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validating, "_MOST", 1 << 20)
    (outcome,) = judged(CASES, {"a.py": "print('1' * (2 << 20))"})
    assert outcome.verdict is Verdict.FAIL
    assert "printed 2 MiB, and a validator is handed at most 1" in outcome.summary
