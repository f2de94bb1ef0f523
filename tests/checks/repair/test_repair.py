"""One edit that mends a submission is found, judged by all checks, and told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Target, Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.events import Finished, Progress, Started
from judge_tui.checks.repair.judging import passes
from judge_tui.checks.repair.mends import mends
from judge_tui.checks.repair.probe import Change, Probe, Trial, pieces
from judge_tui.checks.repair.recording import Asked, Recorder
from judge_tui.checks.repair.search import Repair, failing, repaired
from judge_tui.checks.repair.telling import MENDS, NONE, search
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.runner import judge, run
from judge_tui.checks.store import Store
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Outcome, Verdict

#: Layer norm whose rows take the statistics of the first block of rows.
WRONG = """import numpy as np

BLOCK = 8


def layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(np.mean((x - mean) ** 2, axis=-1, keepdims=True) + eps)
    x_hat = (x - mean) * rstd
    return x_hat * gamma + beta, (x_hat, rstd, gamma)


def layernorm_backward(dy, cache):
    x_hat, rstd, gamma = cache
    g = dy * gamma
    along = (g * x_hat).mean(axis=-1, keepdims=True)
    dx = rstd * (g + g.mean(axis=-1, keepdims=True) - x_hat * along)
    return dx, (dy * x_hat).sum(axis=(0, 1)), dy.sum(axis=(0, 1))
"""
#: The same, wrong for wide rows alone.
WIDE = """import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(np.mean((x - mean) ** 2, axis=-1, keepdims=True) + eps)
    x_hat = (x - mean) * rstd
    return x_hat * gamma + beta, (x_hat, rstd, gamma)


def layernorm_backward(dy, cache):
    x_hat, rstd, gamma = cache
    g = dy * gamma
    if g.shape[-1] > 40:
        dx = rstd * (g + g.mean(axis=-1, keepdims=True) - x_hat * (g * x_hat).mean(axis=-1, keepdims=True))
    else:
        dx = rstd * (g - g.mean(axis=-1, keepdims=True) - x_hat * (g * x_hat).mean(axis=-1, keepdims=True))
    return dx, (dy * x_hat).sum(axis=(0, 1)), dy.sum(axis=(0, 1))
"""
TASK = load_task("backwards")
Submit = Callable[..., Submission]


@pytest.fixture
def wrong(submitted: Submit) -> Submission:
    made = submitted({"layer_norm.py": WRONG})
    return Submission("someone", "backwards", made.path)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    folder = tmp_path_factory.mktemp("someone") / "backwards"
    folder.mkdir()
    folder.joinpath("layer_norm.py").write_text(WRONG)
    asked = ("gradient_identities", "degenerate", "forward_accuracy")
    return judge(TASK, Submission.at(folder), seed=3, checks=asked)


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("def f(n, t):\n    return n // t\n", "(-(-n // t))"),
        ("def f(s, n, eps):\n    return s / (n + eps)\n", "(s / n + eps)"),
        ("def f(v, eps):\n    return 1 / v\n", "(v + eps)"),
        ("def f(q_lo, q_hi):\n    return q_lo * 2 + q_hi\n", "q_hi"),
        ("def f(first, last):\n    return range(first, last)\n", "last + 1"),
        ("def f(a, parent, k):\n    return a[:k] + parent\n", "a[parent]"),
        ("class A:\n    def f(self, k):\n        self.n += k\n", "self.n = self.n + k"),
        ("def f(x, out):\n    out.append(x)\n", "x.copy()"),
        ("def f(buf, x, n):\n    buf[:n] = x\n", "buf[...] = 0\n    buf[:n] = x"),
        ("def f(g, rows, k):\n    return g(rows=rows, k=k)\n", "g(rows=k, k=rows)"),
        ("def f(x):\n    return x.transpose(0, 2, 1, 3)\n", "x.transpose(0, 1, 2, 3)"),
        ("def f(x):\n    a = 1\n    b = x\n    return a + b\n", "b = x\n    a = 1"),
        (
            "def f(x, n):\n    for i in range(n):\n        s = x * 2\n        x = s + i\n    return x\n",
            "s = x * 2\n    for i in range(n):\n        x = s + i",
        ),
        (
            "def f(x, n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n",
            "for i in range(n):\n        s = 0\n        s += i",
        ),
        ("import numpy as np\ndef f(x):\n    return np.float16(x)\n", "np.float64"),
        ("def f(first, n, np):\n    return np.arange(n)\n", "(first + np.arange(n))"),
        ("def f(x, y):\n    if x and y:\n        return 1\n", "x"),
        ("def f(x):\n    return g(x.clip(0, 1))\n", "x.clip(0, 1)"),
        ("def f(x):\n    return g('eps', {'epsilon': x})\n", "'epsilon'"),
        ("def f(total, x):\n    total[:] = x\n", "total[:] += x"),
        ("def f(total, at, x):\n    total[at] += x\n", "np.add.at(total, (at), x)"),
        ("def f(x):\n    return np.zeros_like(x)\n", "np.zeros(x.shape, x.dtype)"),
        ("def f(x):\n    return x.ravel(order='K')\n", "x.ravel()"),
        ("def f(first, i):\n    return i // 4\n", "(i + first)"),
        ("def f(x):\n    return np.clip(x, -8, 7)\n", "np.rint(x)"),
        ("def f(s):\n    return g(s)\ndef g(s):\n    return 1\ndef h(s):\n    return 2\n", "h"),
        ("def f(a):\n    return g(a, 0)\ndef h(b):\n    return g(b, len(b))\n", "len(b)"),
        (
            "class C:\n    def new(self):\n        self.at = 0\n    def reset(self):\n        self.k = 1\n",
            "self.at = 0\n        self.k = 1",
        ),
    ],
)
def test_what_mends_a_mistake_is_among_the_edits(source: str, after: str) -> None:
    assert after in [edit.after for turn in mends(source) for edit in turn]


def test_edits_are_of_lines_that_run_and_each_another_source() -> None:
    every = [edit for turn in mends(WRONG) for edit in turn]
    assert len({edit.source for edit in every}) == len(every)
    assert all(edit.source != WRONG for edit in every)
    assert {edit.statement for turn in mends(WRONG, frozenset({15})) for edit in turn} == {15}


def test_pieces_share_no_object() -> None:
    first = Asked({"op": "call", "keep": 1, "args": []}, ())
    second = Asked({"op": "call", "keep": 2, "args": []}, ())
    of_first = Asked({"op": "fetch", "of": {"$h": 1, "path": []}}, ())
    of_both = Asked({"op": "call", "keep": 3, "args": [{"$h": 1}, {"$h": 4}]}, ())
    alone = Asked({"op": "put", "values": [{"keep": 4, "value": 0}]}, ())
    forgets = Asked({"op": "drop", "handles": [1, 2]}, ())
    asked = [first, second, alone, of_first, of_both, forgets]
    assert pieces(asked) == [[first, alone, of_first, of_both], [second]]


def test_what_mends_leaves_right_answers_and_changes_wrong_ones(submitted: Submit) -> None:
    made = submitted({"layer_norm.py": WIDE})
    bench = Bench(Submission("someone", "backwards", made.path), TASK.contract, seed=3)
    try:
        _ = bench.bindings
        bench.begin("gradients", 60.0)
        recorder = Recorder("gradients", bench.answers)
        bench.renewed().witness = recorder
        TASK.by_id["gradients"].body(bench, Findings())
        assert {True, False} <= set(recorder.fine)
        bench.renewed()
        probe = Probe.of(bench, "gradients", recorder.asked, recorder.fine, "layer_norm.py", WIDE)
        assert probe.wrong
        assert probe.right
        ran, alone = probe.lines(bench, "layer_norm.py", WIDE)
        assert alone == {15}
        assert alone < ran
        trial = Trial(bench, probe)
        mended = WIDE.replace("g + g.mean", "g - g.mean")
        everywhere = WIDE.replace("rstd * (g", "2 * rstd * (g")
        assert trial.answer("layer_norm.py", mended).change is Change.SOME
        assert trial.answer("layer_norm.py", everywhere).change is Change.ALL
        assert trial.answer("layer_norm.py", WIDE.replace("> 40", "> 41")).change is Change.NONE
        trial.close()
    finally:
        bench.close()


def test_an_edit_that_is_told_by_its_answers(wrong: Submission) -> None:
    bench = Bench(wrong, TASK.contract, seed=3)
    try:
        _ = bench.bindings
        recorder = Recorder()
        bench.renewed().witness = recorder
        assert not passes(TASK.by_id["gradient_identities"], bench)
        probe = Probe.of(bench, "gradient_identities", recorder.asked, recorder.fine, "layer_norm.py", WRONG)
        trial = Trial(bench, probe)

        def change(source: str) -> Change:
            return trial.answer("layer_norm.py", source).change

        assert change(WRONG.replace("(g + g.mean", "(g - g.mean")) in (Change.SOME, Change.ALL)
        assert change(WRONG.replace("BLOCK = 8", "BLOCK = 9")) is Change.NONE
        assert change("def layernorm_forward(:\n") is Change.BROKEN
        assert change(WRONG.replace("g = dy * gamma", "g = dy @ gamma")) is Change.BROKEN
        # one edit leaves nothing behind for the next
        assert change(WRONG) is Change.NONE
        plus, twice = (
            WRONG.replace("2, axis", "4, axis"),
            WRONG.replace("** 2, axis=-1", "** (2 * 2), axis=-1"),
        )
        first, again = (trial.answer("layer_norm.py", source) for source in (plus, twice))
        assert first.change is not Change.NONE
        assert first == again
        trial.close()
        assert 15 in probe.lines(bench, "layer_norm.py", WRONG)[0]
        assert 3 not in probe.lines(bench, "layer_norm.py", WRONG.replace("BLOCK = 8", "# nothing"))
    finally:
        bench.close()


def test_the_line_is_found_and_the_edit_mends_every_check(
    wrong: Submission, outcomes: dict[str, Outcome]
) -> None:
    assert set(failing(outcomes)) == {"gradient_identities", "degenerate"}
    (found,) = [step for step in repaired(TASK, wrong, outcomes, seconds=600) if isinstance(step, Repair)]
    assert (found.file, found.edit.line) == ("layer_norm.py", 17)
    assert set(found.checks) == {"gradient_identities", "degenerate"}
    edited = wrong.edited(found.file, found.edit.source)
    assert {one.verdict for one in judge(TASK, edited, seed=3, checks=list(outcomes)).values()} == {"pass"}


def test_what_is_told_stands_in_the_outcomes_and_is_kept(
    wrong: Submission, outcomes: dict[str, Outcome], tmp_path: Path
) -> None:
    store = Store(tmp_path / "cache")
    asked = Request(
        "backwards", (RequestedSubmission.of(wrong),), tuple(outcomes), "cpu", seed=3, repair=600.0
    )
    for _again in range(2):
        events = list(run(asked, store=store))
        told = {e.outcome.check: e.outcome for e in events if isinstance(e, Finished) and e.again}
        assert set(told) == {"gradient_identities", "degenerate"}
        for outcome in told.values():
            assert outcome.verdict is Verdict.FAIL
            assert outcome.summary.count("; layer_norm.py:17: passes with ") == 1
            (evidence,) = [one for one in outcome.evidence if one.quantity == MENDS]
            assert (evidence.file, evidence.line) == ("layer_norm.py", 17)
            assert "-    dx = rstd * (g + g.mean" in evidence.output
    kept = {one.check: one for r in store.runs(wrong, "cpu", outcome.device) for one in r.outcomes}
    assert kept["degenerate"] == told["degenerate"]


def told_of(events: list[Any]) -> list[str]:
    return [type(event).__name__ for event in events if not isinstance(event, Progress)]


def test_where_nothing_is_found_that_is_said(submitted: Submit, outcomes: dict[str, Outcome]) -> None:
    # two mistakes, which no single edit mends
    twice = WRONG.replace("return dx, (dy", "return dx, (-dy")
    made = Submission("someone", "backwards", submitted({"layer_norm.py": twice}).path)
    found = judge(TASK, made, seed=3, checks=list(outcomes))
    events = list(search(TASK, made, found, seconds=4.0, stopped=lambda: False))
    assert told_of(events) == ["Started", "Finished"]
    (evidence,) = [one for one in events[-1].outcome.evidence if one.quantity == NONE]
    assert evidence.measured == 0
    assert " tried, " in evidence.note


@pytest.mark.parametrize("why", ["passes", "no Python", "cancelled"])
def test_nothing_is_looked_for_where_there_is_nothing(
    wrong: Submission, outcomes: dict[str, Outcome], tmp_path: Path, why: str
) -> None:
    if why == "passes":
        good = {id: one for id, one in outcomes.items() if one.verdict is Verdict.PASS}
        assert good
        assert not list(search(TASK, wrong, good, seconds=9.0, stopped=lambda: False))
    elif why == "no Python":
        other = Submission("someone", "backwards", tmp_path / "cuda")
        other.path.mkdir()
        other.path.joinpath("kernel.cu").write_text("int x;\n")
        assert not list(search(TASK, other, outcomes, seconds=9.0, stopped=lambda: False))
    else:
        assert told_of(list(search(TASK, wrong, outcomes, seconds=9.0, stopped=lambda: True))) == ["Started"]


def test_a_worker_goes_on_as_if_a_file_held_another_source(submitted: Submit) -> None:
    made = submitted({"code.py": "from part import y\n\nKEPT = []\n\ndef f(x):\n    KEPT.append(x)\n"
                      "    return len(KEPT) + y\n", "part.py": "y = 10\n"})  # fmt: skip
    with Worker(made) as worker:

        def asked() -> object:
            return worker.value(worker.call(Target("code.py", "f"), (np.float64(1),)).handle)

        assert (asked(), asked()) == (11, 12)
        worker.edit("part.py", "y = 20\n")
        assert asked() == 21
        worker.edit("code.py", "def f(x):\n    return 'other'\n")
        assert asked() == "other"
    assert made.path.joinpath("part.py").read_text() == "y = 10\n"


def test_a_snapshot_with_one_file_edited_is_another_submission(submitted: Submit) -> None:
    made = submitted({"code.py": "x = 1\n", "part.py": "y = 10\n"})
    edited = made.edited("code.py", "x = 2\n")
    assert edited.path.joinpath("code.py").read_text() == "x = 2\n"
    assert edited.path.joinpath("part.py").read_text() == "y = 10\n"
    assert edited.held is edited
    assert made.path.joinpath("code.py").read_text() == "x = 1\n"
    assert edited.digest != made.digest


def test_started_comes_first_and_says_by_which_check(wrong: Submission, outcomes: dict[str, Outcome]) -> None:
    first = next(search(TASK, wrong, outcomes, seconds=9.0, stopped=lambda: False))
    assert first == Started("someone", "backwards", failing(outcomes)[0])
