"""Challenges of one's own: what a stand-in's call takes, a test that does nothing else, and a call by value.

    python benchmarks/bench_behaviour.py

The test, in the author's jail, takes the times of its own calls; they go through the engine into the
submission's jail and back. Beside them stands what four messages take between three processes that do
nothing but pass them on. A call of a challenge of numbers stands beside one of a task that is built in:
the same function, on the same arrays.
"""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.behaviour import checks_of, collected
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.description import described
from judge_tui.checks.challenges.numbers.answering import called, taken
from judge_tui.checks.challenges.task import made
from judge_tui.checks.contract import Contract, Param, Return, Role, Sample
from judge_tui.checks.one_check import run_check
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Verdict

CALL_MS, TEST_MS, TESTS, CALLS = 0.3, 150.0, 16, 1000
#: What a call by value may take beyond one of a task that is built in.
BEYOND_MS = 0.3
GUIDE = Path(__file__).parents[1] / "docs/examples/challenges/rms_norm"
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


#: One process of three: it hears messages, and passes them on or answers them.
PASSING = """
import select, socket, sys
near, *far = [socket.socket(fileno=int(number)) for number in sys.argv[1:]]
poller = select.poll()
for each in (near, *far):
    poller.register(each, select.POLLIN)
while True:
    poller.poll()
    if not (data := near.recv(4096)):
        break
    if far:
        far[0].send(data)
        poller.poll()
        data = far[0].recv(4096)
    near.send(data)
"""


def bare() -> float:
    """Seconds of four messages: to a second process, on to a third, and back."""
    ours, theirs = socket.socketpair()
    near, far = socket.socketpair()
    with ours:
        with theirs, near, far:
            others = [passing(theirs, near), passing(far)]
        took = median(lambda: (ours.send(b"x" * 40), ours.recv(4096)), CALLS)
    for other in others:
        other.wait()
    return took


def passing(*ends: socket.socket) -> subprocess.Popen[bytes]:
    numbers = [end.fileno() for end in ends]
    return subprocess.Popen([sys.executable, "-c", PASSING, *map(str, numbers)], pass_fds=numbers)


def median(call: Callable[[], Any], calls: int) -> float:
    """Seconds of one call of many."""
    return statistics.median(timed(call) for _ in range(calls))


def timed(call: Callable[[], Any]) -> float:
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def by_value() -> tuple[float, float]:
    """Seconds of a call and its result, of a challenge of numbers, and of a task that is built in."""
    rng = np.random.default_rng(1)
    inputs = {"x": rng.standard_normal((6, 5)), "gain": rng.uniform(1.2, 3.0, 5), "eps": 1e-3}
    challenge = Challenge("rms_norm", str(GUIDE))
    authors = Authors(challenge)
    numbers = described(challenge, authors).numbers
    authors.close()
    assert numbers is not None
    role = Role("forward", (Param("x"), Param("gain"), Param("eps", "float")), (Return("y"),), ("rms_norm",))
    built_in = Contract((role,), lambda rng: Sample(inputs, {"y": (6, 5)}))
    answer = Submission("einsum", "rms_norm", GUIDE / "right/einsum")
    with (
        closing(Bench(answer, made(challenge).contract, seed=1)) as own,
        closing(Bench(answer, built_in, seed=1)) as given,
    ):
        both = (
            lambda: taken(own, called(own, numbers, inputs, seconds=10.0), numbers, inputs["x"]),
            lambda: given.call("forward", inputs).array("y", (6, 5)),
        )
        # in turn, and the quickest of all: what else the machine does makes none of them quicker
        rounds = [[min(timed(call) for _ in range(10)) for call in both] for _ in range(60)]
    ours, theirs = (min(each) for each in zip(*rounds, strict=True))
    return ours, theirs


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
    ours, theirs = by_value()
    told = f"   {ours * 1000:.3f} ms against {theirs * 1000:.3f} ms"
    bad += say("a call by value, beyond one that is built in", (ours - theirs) * 1000, BEYOND_MS, told)
    return bad


if __name__ == "__main__":
    raise SystemExit(main())
