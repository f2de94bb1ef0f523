"""Submissions that would rather be called right: none of them forges anything."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Judged, told

#: Name → what a function does in place of giving 9.
_CALLS = {
    "exits_with_success": "sys.exit(0)",
    "ends_its_process": "os._exit(0)",
    "kills_itself": "os.kill(os.getpid(), 9)",
    "skips": "pytest.skip('no')",
    "skips_as_unittest": "raise unittest.SkipTest('no')",
    "expects_to_fail": "pytest.xfail('no')",
    "leaves_pytest": "pytest.exit('fine', 0)",
    "interrupts": "raise KeyboardInterrupt",
    "raises_on_repr": "return Unshowable()",
    "raises_what_cannot_be_told": "raise Untold()",
    "gives_a_thousand_million_items": "return range(10**9).__class__ and [1] * 10**9",
    "holds_itself": "a = []; a.append(a); return a",
    "gives_too_many_bytes": "return 'x' * (1 << 26)",
    "calls_back_without_end": "return f()",
    "speaks_out_of_turn": "border().channel.send(messages.Done({'ending': 'passed'})); return 0",
    "answers_twice": "p = border(); p.channel.send(messages.Answer(0, 0, p.crossing.written(8))); return 0",
    "says_what_is_none": "border().channel._main.sendall(bytes([255] * 64)); return 0",
    "replaces_pytest": "return 0",
    "has_threads_that_never_end": "[threading.Thread(target=spin).start() for _ in range(20)]; return 0",
    "lies_about_its_class": "return Posing()",
}
_SUBMISSION = """
import gc, os, sys, threading, time, unittest
import pytest, _pytest.runner
from judge_worker.border import messages
pytest.raises = pytest.fail = lambda *args, **kwargs: None
_pytest.runner.call_and_report = None
def border():
    return next(each for each in gc.get_objects() if type(each).__name__ == "Peer")
def spin():
    while True: time.sleep(0.01)
class Unshowable:
    def __repr__(self): raise SystemExit(0)
    def __eq__(self, other): return False
class Untold(Exception):
    def __str__(self): raise SystemExit(0)
    args = property(lambda self: 1 / 0)
class Posing:
    __class__ = int
class Liar:
    def __eq__(self, other): return True
    def __bool__(self): return True
    def __contains__(self, item): return True
    def __iter__(self): yield 9
def liar(): return Liar()
def endless():
    while True: yield 9
""" + "\n".join(f"def {name}(f): {body}" for name, body in _CALLS.items())
_TESTS = """
import submission
def back(): return submission.calls_back_without_end(back)
""" + "\n".join(f"def test_{name}(): assert submission.{name}(back) == 9" for name in _CALLS)


def test_what_a_submission_does_in_a_call_fails_that_test_alone(judged: Judged) -> None:
    outcomes = judged(_TESTS, _SUBMISSION, seconds=2.0, process="file")
    assert len(outcomes) == len(_CALLS)
    assert {each.verdict for each in outcomes.values()} == {Verdict.FAIL}, told(outcomes)
    said = {name: each.summary for name, each in outcomes.items()}
    assert "exited with status 0" in said["test_exits_with_success"]
    assert "raised SkipTest: no" in said["test_skips_as_unittest"]
    assert "67,108,882 bytes" in said["test_gives_too_many_bytes"]
    assert "more than 32 deep" in said["test_calls_back_without_end"]


def test_what_it_says_of_itself_is_its_own_word(judged: Judged) -> None:
    tests = """
    import submission
    def test_equal(): assert submission.liar() == 9
    def test_true_and_holding():
        liar = submission.liar()
        assert liar and 3 in liar
    def test_helped():
        def same(one, other): return one == other
        assert same(submission.liar(), 3)
    def test_on_data_as_well():
        liar = submission.liar()
        assert liar == 9
        assert list(liar) == [9]
    def test_other_data(): assert list(submission.liar()) == [8]
    """
    outcomes = judged(tests, _SUBMISSION, process="file")
    verdicts = {name: str(each.verdict) for name, each in outcomes.items()}
    assert verdicts == {
        "test_equal": "warn", "test_true_and_holding": "warn", "test_helped": "warn",
        "test_on_data_as_well": "pass", "test_other_data": "fail",
    }  # fmt: skip
    assert "rests on the submission's own word: Liar.__eq__" in outcomes["test_equal"].evidence[0].note
    assert "asked for the submission's own word" in outcomes["test_on_data_as_well"].evidence[0].note


def test_what_ends_as_it_is_imported_fails_every_test(judged: Judged) -> None:
    outcome = judged("import submission\ndef test_it(): pass\n", "import sys\nsys.exit(0)\n")["test_it"]
    assert outcome.verdict is Verdict.FAIL
    assert outcome.summary == "the submission raised SystemExit: 0 (answer.py:2)"
