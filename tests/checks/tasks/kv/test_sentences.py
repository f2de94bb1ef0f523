from __future__ import annotations

from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.kv.words.sentences import Sentences
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
