"""What a submission may ask of what a test hands it: to call it, and what has a plain name; no more."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from judge_tui.checks.worker.border.rules import TestRules, UnfitError


def function() -> int:
    return 3


class Helper:
    plain = 1

    def method(self) -> int:
        return 2


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (function, "__globals__"), (function, "__code__"), (function, "func_globals"),
        (Helper().method, "__self__"), (Helper, "plain"), (Helper(), "__dict__"), (Helper(), "_private"),
        ((n for n in ()), "gi_frame"),
        (pytest, "raises"), (Mock(), "called"), (Mock(), "return_value"), (len, "__self__"), (Helper(), 3),
    ],
)  # fmt: skip
def test_nothing_leads_past_what_was_handed_over(value: Any, name: Any) -> None:
    rules = TestRules(lambda path: None)
    with pytest.raises(AttributeError):
        rules.attribute(value, name)
    with pytest.raises(AttributeError):
        rules.allow("get", (value, name))
    with pytest.raises(AttributeError):
        rules.allow("set", (value, name, 3))


def test_plain_names_of_the_test_s_objects_are_there() -> None:
    rules = TestRules(lambda path: None)
    helper, mock = Helper(), Mock()
    assert rules.attribute(helper, "plain") == 1
    assert rules.attribute(helper, "method")() == 2
    assert rules.attribute(mock, "anything") is mock.anything
    rules.allow("set", (helper, "plain", 2))
    with pytest.raises(AttributeError):
        rules.allow("set", (mock, "anything", 2))


def test_a_class_is_called_where_it_was_handed_over_itself() -> None:
    rules = TestRules(lambda path: None)
    with pytest.raises(TypeError):
        rules.allow("call", (Helper, (), {}))
    rules.hand_over(Helper)
    rules.allow("call", (Helper, (), {}))


@pytest.mark.parametrize("op", ["module", "find", "where"])
def test_a_test_has_nothing_to_look_for(op: str) -> None:
    with pytest.raises(AttributeError):
        TestRules(lambda path: None).allow(op, ("sys", ""))


@pytest.mark.parametrize("value", [pytest, eval, open, function.__code__])
def test_what_would_reach_further_is_not_handed_over(value: Any) -> None:
    rules = TestRules(lambda path: None)
    with pytest.raises(UnfitError):
        rules.hand_over(value)
    assert rules.unfit_said
