"""Time, threads and processes of a test: what the submission takes counts, and nothing hangs."""

from __future__ import annotations

from .conftest import Judged, told

_SUBMISSION = """
import os, random, threading, time
lock = threading.Lock()
state = []
class Queue:
    def __init__(self): self.items, self.changed = [], threading.Condition()
    def put(self, item):
        with self.changed: self.items.append(item); self.changed.notify()
    def get(self):
        with self.changed:
            while not self.items: self.changed.wait()
            return self.items.pop(0)
def deadlock():
    with lock:
        lock.acquire()
def endless():
    while True: yield 9
def sleep(seconds): time.sleep(seconds)
def call(f): return f()
def in_threads(f):
    out = []
    threads = [threading.Thread(target=lambda: out.append(f())) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return out
def push(x): state.append(x); return len(state)
def end(): os._exit(3)
def draw(): return random.random()
"""


def test_the_submission_s_own_time_counts_and_what_hangs_ends_with_both_stacks(judged: Judged) -> None:
    tests = """
    import threading, time, submission
    def test_before(): time.sleep(0.4); submission.sleep(0.01)
    def test_within(): assert submission.call(lambda: time.sleep(0.4) or 4) == 4
    def test_sleeps(): submission.sleep(0.6)
    def test_never_ends(): assert len(list(submission.endless())) == 3
    def test_deadlock():
        submission.deadlock()
    def test_nobody_puts():
        reader = threading.Thread(target=submission.Queue().get)
        reader.start()
        reader.join()
    """
    outcomes = judged(tests, _SUBMISSION, seconds=0.3, process="file")
    verdicts = [str(each.verdict) for each in outcomes.values()]
    assert verdicts == ["pass", "pass", "fail", "fail", "fail", "fail"], told(outcomes)
    assert "took longer than 0.3 s" in outcomes["test_never_ends"].summary
    evidence = outcomes["test_deadlock"].evidence[0]
    assert (evidence.file, evidence.line) == ("answer.py", 15)
    assert "tests/test_it.py:8 in test_deadlock" in evidence.output
    assert "answer.py:15 in deadlock: lock.acquire()" in evidence.output
    assert "answer.py:11 in get" in outcomes["test_nobody_puts"].evidence[0].output


def test_each_test_has_a_process_of_its_own_with_the_run_s_seed(judged: Judged) -> None:
    tests = """
    import random, submission
    QUEUE = submission.Queue()
    def test_first(): QUEUE.put(1); assert submission.push(1) == 1 and QUEUE.items == [1]
    def test_ends(): submission.end()
    def test_catches_everything():
        try: submission.end()
        except BaseException: pass
    def test_draws(): print(random.random(), submission.draw())
    def test_draws_again(): print(random.random(), submission.draw())
    def test_last(): assert submission.push(1) == 1 and QUEUE.items == []
    """
    outcomes = judged(tests, _SUBMISSION)
    verdicts = [str(each.verdict) for each in outcomes.values()]
    assert verdicts == ["pass", "fail", "fail", "pass", "pass", "pass"], told(outcomes)
    assert "exited with status 3" in outcomes["test_ends"].summary
    drawn = [outcomes[name].evidence[0].output for name in ("test_draws", "test_draws_again")]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0].split())) == 2


def test_tests_of_a_file_may_share_a_process_and_threads_reach_it(judged: Judged) -> None:
    tests = """
    import pytest, submission
    from concurrent.futures import ThreadPoolExecutor
    @pytest.fixture(scope="module")
    def queue(): return submission.Queue()
    def test_first(queue): queue.put(1); assert submission.push(1) == 1
    def test_second(queue): assert submission.push(1) == 2 and queue.get() == 1
    def test_ends(): submission.end()
    def test_afresh(): assert submission.push(1) == 1
    def test_threads_of_the_test():
        queue = submission.Queue()
        with ThreadPoolExecutor(8) as pool:
            got = [pool.submit(queue.get) for _ in range(40)]
            for n in range(40): queue.put(n)
        assert sorted(each.result() for each in got) == list(range(40))
    def test_threads_of_the_submission():
        seen = []
        assert submission.in_threads(lambda: seen.append(1) or 3) == [3, 3, 3]
        assert len(seen) == 3
    """
    outcomes = judged(tests, _SUBMISSION, process="file")
    verdicts = [str(each.verdict) for each in outcomes.values()]
    assert verdicts == ["pass", "pass", "fail", "pass", "pass", "pass"], told(outcomes)


def test_what_a_thread_cannot_serve_is_told_at_once(judged: Judged) -> None:
    tests = """
    import sys, submission
    def test_hands_a_module_to_a_thread(): submission.in_threads(lambda: sys)
    def test_after(): assert submission.in_threads(lambda: 3) == [3, 3, 3]
    """
    outcomes = judged(tests, _SUBMISSION, seconds=60.0, process="file")
    first, after = outcomes.values()
    assert (str(first.verdict), str(after.verdict)) == ("error", "pass"), told(outcomes)
    assert "hands a module to the submission, which cannot cross" in first.summary
    assert first.seconds < 30
