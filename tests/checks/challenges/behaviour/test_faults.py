"""What is off about a challenge's own tests: told as the challenge's, in one sentence with file and line."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import Mock

import pytest

from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.behaviour import Behaviour, TestFile, TestFunction, checks_of
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Skipped
from judge_tui.checks.verdict import Outcome, Verdict

from .conftest import Files, Judged, told

_SUBMISSION = """
class Base: pass
def call(f): return f()
async def later(): return 3
def give(): return [1]
def end(): raise SystemExit(1)
"""
#: What a test does that is its author's fault → what is said of it.
_FAULTS = {
    "names_nothing": ("undefined", "NameError: name 'undefined' is not defined"),
    "has_no_fixture(nowhere)": ("pass", "no fixture 'nowhere'"),
    "breaks_by_itself": ("len(3)", "TypeError: object of type 'int' has no len()"),
    "has_a_fixture_that_breaks(broken)": ("pass", "ZeroDivisionError"),
    "derives": ("type('Own', (submission.Base,), {})", "class Own is derived from the submission's Base"),
    "awaits": ("asyncio.run(submission.later())", "awaits what the submission gives"),
    "hands_over_eval": ("submission.call(eval)", "hands eval to the submission"),
    "hands_over_a_module": ("submission.call(asyncio)", "hands a module to the submission"),
    "imports_what_is_not_there": ("import not_there", "ModuleNotFoundError: No module named 'not_there'"),
    "leaves": ("raise SystemExit(0)", "SystemExit"),
    "is_asynchronous": ("pass", "an event loop does not cross"),
}
_TESTS = """import asyncio, pytest, submission
@pytest.fixture
def broken(): return 1 / 0
""" + "\n".join(
    f"{'async ' * ('async' in name)}def test_{name if '(' in name else name + '()'}: {body}"
    for name, (body, _said) in _FAULTS.items()
)


def _of_challenge(outcome: Outcome) -> bool:
    return outcome.verdict is Verdict.ERROR and outcome.summary.startswith(
        "the challenge itself: tests/test_it.py:"
    )


def test_what_a_test_does_wrong_by_itself_is_the_challenge_s_fault(judged: Judged) -> None:
    outcomes = judged(_TESTS, _SUBMISSION, process="file")
    assert all(map(_of_challenge, outcomes.values())), told(outcomes)
    for line, (name, (_body, said)) in enumerate(_FAULTS.items(), 4):
        outcome = outcomes[f"test_{name.partition('(')[0]}"]
        assert said in outcome.summary
        assert f"test_it.py:{3 if 'broken' in name else line}:" in outcome.summary


#: A file → what is said of it, and its line.
_UNREAD = {
    "import os\nimport not_there\n": ("not_there is imported, which is neither a file", 2),
    "from helper import nothing\n": ("ImportError: cannot import name 'nothing'", 1),
    "import submission\nclass Own(submission.Base): pass\n": ("is derived from the submission's Base", 2),
    "def f(:\n": ("SyntaxError: invalid syntax", 1),
    "import submission\nN = submission.f() + 1\n1 / 0\n": ("ZeroDivisionError", 3),
}


def test_a_file_that_cannot_be_collected_says_where(outlined: Callable[[Files], Behaviour]) -> None:
    tests = {f"tests/test_{index}.py": text for index, text in enumerate(_UNREAD)}
    behaviour = outlined({**tests, "tests/helper.py": ""})
    for file, (said, line) in zip(behaviour.files, _UNREAD.values(), strict=True):
        assert (file.tests, file.fault_file, file.fault_line) == ((), file.file, line)
        assert said in file.fault


def test_what_is_the_challenge_s_and_what_is_the_submission_s_stand_apart(judged: Judged) -> None:
    tests = {
        "tests/test_it.py": "import not_there\n",
        "tests/test_needs.py": "import shapely\n",
        "tests/test_skips.py": "import pytest\npytest.skip('another day', allow_module_level=True)\n",
        "tests/test_lacks.py": "from submission import Cache\ndef test_lacks(): pass\n",
        "tests/test_slips.py": "from submission import Bsae\ndef test_slips(): pass\n",
        "tests/test_other.py": """
            import pytest, submission
            @pytest.fixture
            def made(): return submission.nothing()
            @pytest.fixture
            def ended(): return submission.end()
            def test_right(): assert submission.give() == [1]
            def test_type(): assert submission.give() + 1 == 2
            def test_made(made): pass
            def test_ended(ended): pass
            """,
    }
    outcomes = judged(tests, _SUBMISSION)
    assert _of_challenge(outcomes["tests/test_it.py"])
    assert outcomes["tests/test_needs.py"].summary.startswith("the challenge itself needs shapely")
    assert outcomes["tests/test_skips.py"].verdict is Verdict.SKIP
    lacks = "the submission has no Cache, which tests/test_lacks.py:1 imports"
    assert (outcomes["test_lacks"].verdict, outcomes["test_lacks"].summary) == (Verdict.FAIL, lacks)
    assert outcomes["test_slips"].summary.endswith("tests/test_slips.py:1 imports; it has Base")
    of_other = [str(outcomes[f"test_{name}"].verdict) for name in ("right", "type", "made", "ended")]
    assert of_other == ["pass", "fail", "fail", "fail"], told(outcomes)


def test_what_tests_hold_is_known_without_a_submission(outlined: Callable[[Files], Behaviour]) -> None:
    text = '''
    import pytest, submission
    from submission import Cache, LIMIT
    import submission.parts.inner
    FULL = Cache(LIMIT)

    @pytest.mark.parametrize("kind", [Cache, submission.Other])
    def test_kinds(kind):
        """All kinds."""

    class TestFull:
        def test_it(self): pass
    '''
    behaviour = outlined(text)
    (file,) = behaviour.files
    assert behaviour.names == ("Cache", "LIMIT", "Other")
    told_of = [(test.name, test.group, test.rows, test.doc) for test in file.tests]
    assert told_of == [("test_kinds", "", 2, "All kinds."), ("test_it", "TestFull", 1, "")]


def test_names_that_clash_have_their_file_or_class_before_them() -> None:
    test = TestFunction
    files = (
        TestFile("tests/test_a.py", (test("test_x"), test("test_y"), test("test_y", group="TestIt"))),
        TestFile("tests/deep/test_b.py", (test("test_x"), test("size"))),
    )
    challenge = Challenge("it", "")
    checks = checks_of(challenge, Authors(challenge), Behaviour(files))
    # which stands under a failure as well
    assert checks[0].establishes == "What tests/test_a.py:0 asserts of the answer."
    assert [check.id for check in checks] == [
        "test_a::test_x",
        "test_a::test_y",
        "TestIt::test_y",
        "deep/test_b::test_x",
        "deep/test_b::size",
    ]


def test_without_pytest_every_check_says_so(tmp_path: Path) -> None:
    challenge = Challenge("it", str(tmp_path))
    behaviour = Behaviour((TestFile("tests/test_a.py", (TestFunction("test_x"),)),), (), without_pytest=True)
    (check,) = checks_of(challenge, Authors(challenge), behaviour)
    with pytest.raises(Skipped, match="pip install pytest"):
        check.body(Mock(), Findings())


@pytest.mark.skipif(find_spec("triton") is not None, reason="triton is installed here")
def test_a_framework_that_an_answer_is_built_on_and_that_is_missing_is_nobody_s_failure(
    judged: Judged,
) -> None:
    test = "from submission import C\ndef test_a(): assert C().give() == 3\n"
    answer = """
import triton
class C:
    def __init__(self): self.x = triton.zeros(3)
    def give(self): return 3
"""
    (found,) = judged(test, answer).values()
    assert (found.verdict, found.summary) == (
        Verdict.SKIP, "needs triton, which is not installed here → pip install triton"
    )  # fmt: skip


@pytest.mark.skipif(find_spec("triton") is not None, reason="triton is installed here")
@pytest.mark.parametrize(
    "answer",
    {
        "never imported": "def give(): raise ModuleNotFoundError(\"No module named 'triton'\")",
        "at its import": "raise ModuleNotFoundError(\"No module named 'triton'\")",
        "only said": """
try: import triton
except ImportError: pass
def give(): return "No module named 'triton'"
""",
        "it is here": "import numpy\ndef give(): raise ModuleNotFoundError(\"No module named 'numpy'\")",
    }.items(),
    ids=lambda item: item[0],
)
def test_who_says_that_a_framework_is_missing_and_needs_none_fails(
    judged: Judged, answer: tuple[str, str]
) -> None:
    (found,) = judged("import submission\ndef test_a(): assert submission.give() == 3\n", answer[1]).values()
    assert found.verdict is Verdict.FAIL, found.summary


def test_an_exception_that_bears_the_name_of_python_s_own_is_another(judged: Judged) -> None:
    tests = """
import pytest, submission
def test_it():
    with pytest.raises(ValueError): submission.give()
"""
    (found,) = judged(tests, "class ValueError(Exception): pass\ndef give(): raise ValueError(3)").values()
    assert (found.verdict, found.summary) == (
        Verdict.FAIL, "raised its own ValueError: 3 at tests/test_it.py:4"
    )  # fmt: skip


def test_of_an_answer_with_few_names_they_are_told_where_another_is_lacking(judged: Judged) -> None:
    outcomes = judged(
        "from submission import RingBuffer\ndef test_it(): pass\n", "class CircularQueue: pass\n"
    )
    assert outcomes["test_it"].summary.endswith("tests/test_it.py:1 imports; it has CircularQueue")
