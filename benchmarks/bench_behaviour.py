"""Challenges of behaviour: what one call of a stand-in takes, and what a test costs that does nothing else.

    python benchmarks/bench_behaviour.py

The test, in the author's jail, takes the times of its own calls; they go through the engine into the
submission's jail and back. Beside them stands what four messages over the same kind of sockets take.
"""

from __future__ import annotations

import json
import socket
import statistics
import tempfile
import threading
import time
from pathlib import Path

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.behaviour import checks_of, collected
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.contract import Contract, Sample
from judge_tui.checks.one_check import run_check
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Verdict

CALL_MS, TEST_MS, TESTS, CALLS = 0.3, 150.0, 16, 3000
SUBMISSION = """
class Queue:
    size = 3
    def put(self, item): pass
    def __len__(self): return 3
def same(x): return x
"""
CALLED = """
import json, statistics, time
from submission import Queue, same

def median(call):
    took = []
    for _ in range({calls}):
        before = time.perf_counter()
        call()
        took.append(time.perf_counter() - before)
    return statistics.median(took)

def test_calls():
    queue, items = Queue(), [1, 2, 3]
    print(json.dumps({{
        "a method": median(lambda: queue.put(1)), "a function": median(lambda: same(1)),
        "len": median(lambda: len(queue)), "an attribute": median(lambda: queue.size),
        "a list there and back": median(lambda: same(items)),
    }}))
"""


def judged(root: Path, tests: str) -> list[tuple[float, str]]:
    """Seconds of each check, and what its test printed."""
    (root / "it" / "tests").mkdir(parents=True)
    (root / "m").mkdir()
    (root / "it" / "tests" / "test_it.py").write_text(tests)
    (root / "m" / "answer.py").write_text(SUBMISSION)
    challenge = Challenge("it", str(root / "it"))
    authors = Authors(challenge)
    checks = checks_of(challenge, authors, collected(authors, challenge))
    contract = Contract((), lambda rng: Sample({}, {}))
    bench = Bench(Submission("m", "it", root / "m"), contract, seed=1)
    found = []
    for check in checks:
        before = time.perf_counter()
        outcome = run_check(Task("it", "it", contract, checks), check, bench)
        assert outcome.verdict is Verdict.PASS, outcome.summary
        found.append((time.perf_counter() - before, outcome.evidence[0].output))
    bench.close()
    return found


def bare() -> float:
    """Seconds of two round trips over sockets to a thread that answers what it is told."""
    ours, theirs = socket.socketpair()

    def answer() -> None:
        while data := theirs.recv(4096):
            theirs.send(data)

    threading.Thread(target=answer, daemon=True).start()
    took = []
    for _ in range(CALLS):
        before = time.perf_counter()
        for _ in range(2):
            ours.send(b"x" * 40)
            ours.recv(4096)
        took.append(time.perf_counter() - before)
    ours.close()
    return statistics.median(took)


def say(what: str, milliseconds: float, limit: float, ratio: str = "") -> int:
    ok = milliseconds <= limit
    print(f"{'ok ' if ok else 'OUT'} {what:<44} {milliseconds:>8.3f} ms   limit {limit} ms{ratio}")
    return not ok


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        ((_seconds, printed),) = judged(Path(folder), CALLED.format(calls=CALLS))
    messages = bare()
    bad = 0
    for what, seconds in json.loads(printed).items():
        ratio = f"   {seconds / messages:.1f} times four bare messages"
        bad += say(
            f"a stand-in call, {what}, median",
            seconds * 1000,
            CALL_MS if "list" not in what else 2 * CALL_MS,
            ratio,
        )
    empty = "import submission\n" + "".join(
        f"def test_{n}(): assert submission.same(3) == 3\n" for n in range(TESTS)
    )
    with tempfile.TemporaryDirectory() as folder:
        took = [seconds for seconds, _printed in judged(Path(folder), empty)]
    bad += say("a test in a process of its own, after the first", statistics.mean(took[1:]) * 1000, TEST_MS)
    return bad


if __name__ == "__main__":
    raise SystemExit(main())
