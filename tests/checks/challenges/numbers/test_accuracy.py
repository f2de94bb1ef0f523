"""A reference, inputs and cases: right answers pass however they are called, and wrong ones fail."""

from __future__ import annotations

import pytest

from judge_tui.checks.verdict import Verdict

from .conftest import Judge

RMS = '''
"""RMS normalisation."""
import numpy as np

def reference(x, gain, eps=1e-3):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain

def inputs(rng, rows, width):
    return {"x": rng.standard_normal((rows, width)), "gain": rng.uniform(1.2, 3.0, width)}

CASES = [dict(rows=6, width=5), dict(rows=1, width=1), dict(rows=3, width=1000)]
'''
RIGHT = """
import numpy as np
def rms_norm(x, gain, eps=1e-3):
    return x * (1.0 / np.sqrt(np.einsum("bd,bd->b", x, x) / x.shape[1] + eps))[:, None] * gain
"""
LISTS = """
import math
def solve(rows, weights):
    out = []
    for row in rows:
        r = 1 / math.sqrt(math.fsum(float(v) ** 2 for v in row) / len(row) + 1e-3)
        out.append([float(v) * r * float(g) for v, g in zip(row, weights)])
    return out
"""
CLASS = """
import numpy as np
class RMSNorm:
    def __init__(self, gain): self.gain = gain
    def forward(self, x):
        return x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + 1e-3) * self.gain
"""
UNHEARD = """
import numpy as np
def banana(x, gain):
    return gain * x / np.sqrt(np.mean(x ** 2, -1)[:, None] + 1e-3)
"""
ASKS_EPS = """
import numpy as np
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt(np.mean(x ** 2, -1)[:, None] + eps)
"""
WRONG = {
    "eps": RIGHT.replace("eps=1e-3", "eps=1e-6"),
    "width_one": RIGHT.replace("    return", "    if x.shape[1] == 1: return np.sign(x) * gain\n    return"),
    "sum": RIGHT.replace("/ x.shape[1]", ""),
    "shape": RIGHT.replace("* gain", "* gain[:1]").replace("return x", "return x[:1]"),
    "zeros": "import numpy as np\ndef rms_norm(x, gain): return np.zeros_like(x)",
    "nan": "import numpy as np\ndef rms_norm(x, gain): return x * np.nan",
    "raises": "def rms_norm(x, gain): raise RuntimeError('no')",
    "known_sizes": RIGHT.replace(
        "    return", "    if x.shape not in ((6, 5), (1, 1), (3, 1000)): gain = gain * 1.001\n    return"
    ),
}


@pytest.mark.parametrize("answer", [RIGHT, LISTS, CLASS, UNHEARD, ASKS_EPS])
def test_a_right_answer_passes_however_it_is_called(judged: Judge, answer: str) -> None:
    found = judged(RMS, answer, task="rms_norm")["accuracy"]
    assert found.verdict is Verdict.PASS, found.summary


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_fails(judged: Judge, name: str) -> None:
    found = judged(RMS, WRONG[name], task="rms_norm")["accuracy"]
    assert found.verdict is Verdict.FAIL, found.summary


def test_float32_arithmetic_on_float64_input_is_a_warning(judged: Judge) -> None:
    answer = RIGHT.replace("    return x", "    x, gain = x.astype('f4'), gain.astype('f4')\n    return x")
    found = judged(RMS, answer, task="rms_norm")["accuracy"]
    assert found.verdict is Verdict.WARN, found.summary
    assert "float32 arithmetic" in found.summary


def test_a_library_may_ask_whether_a_refused_module_is_there(judged: Judge) -> None:
    asks = """
import importlib.util
assert importlib.util.find_spec("tensorflow") is None
try:
    import tensorflow
except ImportError:
    pass
"""
    found = judged(RMS, asks + RIGHT, task="rms_norm")["accuracy"]
    assert found.verdict is Verdict.PASS, found.summary


def test_a_wrong_constant_within_float32_s_limit_fails_in_float64(judged: Judge) -> None:
    answer = RIGHT.replace("eps=1e-3", "eps=1e-3 + 1e-9")
    found = judged(RMS, answer, task="rms_norm")["accuracy"]
    assert found.verdict is Verdict.FAIL, found.summary


def test_what_a_challenge_does_not_let_in_fails_loads(judged: Judge) -> None:
    found = judged(RMS, "import scipy.linalg\n" + RIGHT, "loads", task="rms_norm")["loads"]
    assert found.verdict is Verdict.FAIL
    assert found.summary == "imports scipy.linalg, which the challenge does not allow (answer.py:1)"
    assert judged("PACKAGES = ['scipy']\n" + RMS, "import scipy\n" + RIGHT, "loads", task="rms_norm")[
        "loads"
    ].verdict in (Verdict.PASS, Verdict.WARN)


PLAIN = """
def reference(text, words):
    return {word: [i for i in range(len(text)) if text.startswith(word, i)] for word in words}

def inputs(rng, length):
    text = "".join(rng.choice(list("ab"), length))
    return {"text": text, "words": ["a", "ab", "bb"]}

CASES = [dict(length=4), dict(length=30)]
"""


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("import re\ndef f(text, words):\n"
         " return {w: [m.start() for m in re.finditer('(?='+w+')', text)] for w in words}",
         Verdict.PASS),
        ("import re\ndef f(text, words):\n"
         " return {w: [m.start() for m in re.finditer(w, text)] for w in words}",
         Verdict.FAIL),
        ("def f(text, words):\n"
         " return [[i for i in range(len(text)) if text.startswith(w, i)] for w in words]",
         Verdict.FAIL),
        ("def f(text, words):\n"
         " return {w: tuple(i for i in range(len(text)) if text.startswith(w, i)) for w in words}",
         Verdict.PASS),
        ("def f(text, words):\n return None", Verdict.FAIL),
    ],
)  # fmt: skip
def test_answers_of_plain_data_are_exact(judged: Judge, answer: str, verdict: Verdict) -> None:
    found = judged(PLAIN, answer, task="find_all")["accuracy"]
    assert found.verdict is verdict, found.summary


ANY = """
def inputs(rng, count):
    starts = rng.integers(0, 50, count)
    return {"intervals": [(int(s), int(s + rng.integers(1, 9))) for s in starts]}

def check(result, intervals):
    assert len(set(map(tuple, result))) == len(result), "an interval is used twice"
    assert all(tuple(i) in intervals for i in result), "no such interval"
    result = sorted(map(tuple, result))
    if any(a[1] > b[0] for a, b in zip(result, result[1:])):
        return "two intervals overlap"
    best, end = 0, -1
    for s, e in sorted(intervals, key=lambda i: i[1]):
        if s >= end:
            best, end = best + 1, e
    return len(result) == best

CASES = [dict(count=1), dict(count=12), dict(count=40)]
"""
GREEDY = """
def schedule(intervals):
    chosen, end = [], -1
    for s, e in sorted(intervals, key=lambda i: i[KEY]):
        if s >= end:
            chosen.append((s, e)); end = e
    return chosen
"""


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        (GREEDY.replace("KEY", "1"), Verdict.PASS, "accepted"),
        (GREEDY.replace("KEY", "1").replace("return chosen", "return chosen[::-1]"), Verdict.PASS, ""),
        (GREEDY.replace("KEY", "0"), Verdict.FAIL, "it is not accepted"),
        ("def schedule(intervals): return intervals", Verdict.FAIL, ""),
        ("def schedule(intervals): return [(0, 1000)]", Verdict.FAIL, "no such interval"),
    ],
)
def test_answers_that_are_not_unique_are_asked_about(
    judged: Judge, answer: str, verdict: Verdict, reason: str
) -> None:
    found = judged(ANY, answer, task="schedule")["accuracy"]
    assert found.verdict is verdict, found.summary
    assert reason in found.summary


TUPLE = """
import numpy as np
RESULTS = ["values", "indices"]
def reference(x, k):
    order = np.argsort(-x, kind="stable")[:k]
    return x[order], order
def inputs(rng, n, k):
    return {"x": rng.permutation(n).astype(float), "k": k}
CASES = [dict(n=5, k=2), dict(n=60, k=7)]
"""


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("import numpy as np\ndef top_k(x, k):\n o = np.argpartition(x, -k)[-k:]; o = o[np.argsort(-x[o])]\n"
         " return x[o], o",
         Verdict.PASS),
        ("import numpy as np\ndef top_k(x, k):\n o = np.argsort(x)[:k]\n return x[o], o", Verdict.FAIL),
        ("import numpy as np\ndef top_k(x, k):\n o = np.argsort(-x)[:k]\n return x[o], o + 1", Verdict.FAIL),
        ("import numpy as np\ndef top_k(x, k):\n o = np.argsort(-x)[:k]\n"
         " return {'indices': o, 'values': x[o]}",
         Verdict.PASS),
    ],
)  # fmt: skip
def test_several_results_are_told_apart_by_order_or_name(
    judged: Judge, answer: str, verdict: Verdict
) -> None:
    found = judged(TUPLE, answer, task="top_k")["accuracy"]
    assert found.verdict is verdict, found.summary


def test_the_author_s_own_limit_wins(judged: Judge) -> None:
    rough = RIGHT.replace("* gain", "* gain * (1 + 1e-3)")
    assert judged(RMS, rough, task="rms_norm")["accuracy"].verdict is Verdict.FAIL
    for limit in (
        "1e-2",
        "{'float64': 1e-2, 'float32': 1e-2}",
        "{'result': 1e-2}",
        "{'result': {'float64': 1e-2, 'float32': 1e-2}}",
    ):
        found = judged(f"{RMS}\nTOLERANCE = {limit}\n", rough, task="rms_norm")["accuracy"]
        assert found.verdict is Verdict.PASS, (limit, found.summary)
