from __future__ import annotations

from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.kv.words.sentences import Sentences, Topic
from judge_tui.checks.verdict import Verdict


def test_what_decided_is_told_first_and_nothing_moves_where_all_is_well() -> None:
    found = Findings()
    said = Sentences(found)
    found.claim("one", True)
    said.append("one is right")
    found.claim("two", True)
    said.append("two is right")
    assert said.told() == "one is right; two is right"
    found.claim("three", False, otherwise=Verdict.WARN)
    said.append("three is odd")
    assert said.told() == "three is odd; one is right; two is right"
    found.claim("four", False)
    said.append("four is wrong")
    found.claim("five", False)
    said.append("five is wrong as well")
    assert said.told() == "four is wrong; one is right; two is right; three is odd; five is wrong as well"


def test_what_is_taken_back_leaves_the_front_to_what_decides_after_it() -> None:
    found = Findings()
    said = Sentences(found)
    said.append("one is right")
    found.claim("two in float64", False)
    said.append("two is wrong in float64", Topic.DIFFERS)
    found.claim("two", False)
    said.take_back(Topic.DIFFERS)
    said.append("two is wrong", Topic.DIFFERS)
    said.append("three is right")
    assert said.told() == "two is wrong; one is right; three is right"


def test_what_is_said_instead_stands_at_the_end_and_what_several_parts_say_is_said_once() -> None:
    found = Findings()
    said = Sentences(found)
    found.claim("one", True)
    said.append("one agrees", Topic.AGREES)
    said.once("two is odd")
    said.once("two is odd")
    found.claim("one, foretold", False)
    said.instead(Topic.AGREES, "one is wrong all the same")
    assert said.told() == "two is odd; one is wrong all the same"
