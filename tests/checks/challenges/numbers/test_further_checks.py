"""Edges, refusals, claims, gradients, and what is ruled out: each with answers that deserve each verdict."""

from __future__ import annotations

import ast

import pytest

from judge_tui.checks.challenges.numbers.forbidden import doubts, uses
from judge_tui.checks.verdict import Verdict

from .conftest import Judge

MEAN = '''
import numpy as np
def reference(x):
    if len(x) == 0:
        raise ValueError("empty")
    return float(np.mean(x))
def inputs(rng, n): return {"x": rng.standard_normal(n) + 3}
CASES = [dict(n=1), dict(n=9)]
def edge_cases(rng):
    yield "large", {"x": np.array([1e308, 1e308])[:1]}
    yield "integers", {"x": np.array([1.0, 2.0])}
def error_cases(rng):
    yield "empty", {"x": np.zeros(0)}, ValueError
def property_shift(call, rng):
    """Adding one to all adds one to the mean."""
    x = rng.standard_normal(5)
    assert abs(call(x=x + 1) - call(x=x) - 1) < 1e-9, "a shift is not kept"
'''
GOOD = """
class EmptyError(ValueError): pass
def mean(x):
    if not len(x): raise EmptyError("nothing")
    return sum(x) / len(x)
"""


@pytest.mark.parametrize(
    ("answer", "verdicts"),
    [
        (GOOD, {}),
        (GOOD.replace('raise EmptyError("nothing")', "return 0.0"),
         {"errors": Verdict.FAIL}),
        (GOOD.replace("(ValueError)", "(KeyError)"), {"errors": Verdict.FAIL}),
        ("class ValueError(Exception): pass" + GOOD, {"errors": Verdict.FAIL}),
        (GOOD.replace("sum(x) / len(x)", "sum(x) / len(x) if x[0] < 1e300 else 0.0"),
         {"edge_cases": Verdict.FAIL}),
        (GOOD.replace("sum(x) / len(x)", "abs(sum(x) / len(x))"), {"property_shift": Verdict.FAIL}),
    ],
)  # fmt: skip
def test_edges_refusals_and_claims(judged: Judge, answer: str, verdicts: dict[str, Verdict]) -> None:
    found = judged(MEAN, answer, task="mean")
    wanted = dict.fromkeys(("accuracy", "edge_cases", "errors", "property_shift"), Verdict.PASS) | verdicts
    assert {check: outcome.verdict for check, outcome in found.items()} == wanted, {
        check: outcome.summary for check, outcome in found.items()
    }


def test_a_claim_tells_what_the_submission_raised_and_where(judged: Judge) -> None:
    answer = GOOD.replace("    return sum", "    if len(x) == 5: x.nothing\n    return sum")
    found = judged(MEAN, answer, "property_shift", task="mean")["property_shift"]
    assert found.verdict is Verdict.FAIL
    assert "AttributeError" in found.summary
    assert found.location == ("answer.py", 5)


SQUARE = """
GRADIENTS = ["x"]
def reference(x, w): return (x * x * w).sum(-1)
def inputs(rng, rows, width):
    return {"x": rng.standard_normal((rows, width)), "w": rng.standard_normal(width)}
CASES = [dict(rows=2, width=3), dict(rows=5, width=40)]
"""


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("def forward(x, w): return (x*x*w).sum(-1)\ndef backward(dout, x, w): return 2*x*w*dout[:, None]",
         Verdict.PASS),
        ("def forward(x, w): return (x*x*w).sum(-1), (x, w)\n"
         "def backward(dout, cache):\n x, w = cache\n return 2*x*w*dout[:, None]", Verdict.PASS),
        ("def forward(x, w): return (x*x*w).sum(-1)\ndef backward(dout, x, w): return x*w*dout[:, None]",
         Verdict.FAIL),
        ("def forward(x, w): return (x*x*w).sum(-1)", Verdict.UNBOUND),
    ],
)  # fmt: skip
def test_gradients_are_those_of_the_reference(judged: Judge, answer: str, verdict: Verdict) -> None:
    found = judged(SQUARE, answer, "gradients", task="square")["gradients"]
    assert found.verdict is verdict, found.summary


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import numpy as np\nnp.linalg.norm(3)", ["numpy.linalg.norm"]),
        ("from numpy.linalg import norm as n\nn(3)", ["numpy.linalg.norm", "numpy.linalg.norm"]),
        ("import numpy\nlinalg = numpy.linalg\nlinalg.norm(3)", ["numpy.linalg.norm"]),
        ("from numpy.linalg import *", ["numpy.linalg.*"]),
        ("x = 'numpy.linalg.norm'  # numpy.linalg.norm", []),
        ("import other as np\nnp.linalg.norm(3)", []),
        ("a @ b", ["operator:@"]),
        ("a @= b", ["operator:@"]),
        ("sorted([2])", ["sorted"]),
        ("x.sorted", []),
        ("def sorted(x): return x\nsorted([2])", []),
        ("def f(x):\n    sorted = x.order\n    return sorted(3)", []),
        ("def f(sorted): pass\nsorted([2])", ["sorted"]),
        ("def f(x, s=sorted): return s(x)", ["sorted", "sorted"]),
        ("import builtins\nbuiltins.sorted([2])", ["sorted"]),
        ("import numpy as np\ngetattr(np.linalg, 'norm')(3)", ["numpy.linalg.norm"]),
        ("import importlib as i\ni.import_module('numpy').linalg.norm(3)", ["numpy.linalg.norm"]),
        ("n = __import__('numpy')\nn.linalg.norm(3)", ["numpy.linalg.norm"]),
        ("import numpy as np\n(n := np.linalg).norm(3), n.norm(4)", ["numpy.linalg.norm"]),
        ("import numpy as np\nn, k = np.linalg, 3\nn.norm(k)", ["numpy.linalg.norm"]),
        ("import numpy as np\ndef f(x, *, n=np): return n.linalg.norm(x)", ["numpy.linalg.norm"]),
    ],
)
def test_what_is_ruled_out_is_found_through_aliases_and_never_in_strings(
    source: str, found: list[str]
) -> None:
    names = ("numpy.linalg.norm", "operator:@", "sorted")
    assert [name for name, _line in uses(ast.parse(source), names)] == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(x): return x.mean()", ["numpy.mean"]),
        ("import numpy as np\nnp.asarray(3).mean()", ["numpy.mean"]),
        ("import statistics\nstatistics.mean([3])", []),
        ("def f(x): return x.sort()", []),
        ("class A:\n    def mean(self): return 3\n    def f(self): return self.mean()", []),
        ("def f(x): return x.softmax(-1)", []),
        ("import torch\ndef f(x): return x.softmax(-1)", ["torch.softmax"]),
        ("def f(x): return x.anywhere()", ["anywhere"]),
        ("import numpy as np\nnp.anywhere(3)", ["numpy.anywhere"]),
        ("def anywhere(x): return anywhere(x)", []),
        ("x.anywhere", []),
    ],
)
def test_methods_of_what_is_ruled_out(source: str, found: list[str]) -> None:
    names = ("numpy.mean", "numpy.sort", "torch.softmax", "anywhere")
    assert list(dict.fromkeys(name for name, _line in uses(ast.parse(source), names))) == found


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("exec('import numpy')", "runs a text by exec"),
        ("e = eval\ne('3')", "runs a text by eval"),
        ("import builtins\nbuiltins.compile('3', '', 'eval')", "runs a text by compile"),
        ("import re\nre.compile('3')", ""),
        ("def eval(x): return x\neval('3')", ""),
        ("import numpy as np\ngetattr(np, 'me' + 'an')(3)", "gets of numpy what no name says"),
        ("def f(x): return x.sort()", "calls a method sort, as numpy.sort is called"),
        ("def f(x): return x.softmax(-1)", "calls a method softmax, as torch.softmax is called"),
        ("class A:\n    def sort(self): return self.sort()", ""),
        ("def f(x): return x.mean()", ""),
        ("def f(x): return x.other()", ""),
    ],
)
def test_what_cannot_be_read_is_told(source: str, said: str) -> None:
    names = ("numpy.mean", "numpy.sort", "torch.softmax", "anywhere")
    assert [what for what, _line in doubts(ast.parse(source), names)] == ([said] if said else [])


def test_a_text_that_is_run_is_a_warning(judged: Judge) -> None:
    answer = "def mean(x):\n    if not len(x): raise ValueError\n    return eval('x.mean()')\n"
    found = judged(MEAN + "FORBIDDEN = ['numpy.mean']\n", answer, "forbidden", task="mean")["forbidden"]
    assert (found.verdict, found.summary) == (
        Verdict.WARN, "runs a text by eval (answer.py:3): what that uses cannot be read"
    )  # fmt: skip


def test_a_forbidden_name_fails_with_its_line(judged: Judge) -> None:
    answer = "import numpy as np\ndef mean(x):\n    if not len(x): raise ValueError\n    return np.mean(x)\n"
    found = judged(MEAN + "FORBIDDEN = ['numpy.mean']\n", answer, "forbidden", task="mean")["forbidden"]
    assert (found.verdict, found.location) == (Verdict.FAIL, ("answer.py", 4))


SCALED = """
def reference(x, factor=2.0): return x * factor
def inputs(rng, n): return {"x": rng.standard_normal(n), "factor": float(rng.uniform(1.0, 3.0))}
CASES = [dict(n=3), dict(n=5)]
def edge_cases(rng):
    yield "no factor", {"x": rng.standard_normal(4)}
def property_doubles(call, rng):
    x = rng.standard_normal(3)
    assert (call(x=x) == 2.0 * x).all(), "twice is not twice"
"""


@pytest.mark.parametrize("signature", ["x, factor=2.0", "x, factor", "factor, x"])
def test_what_has_a_default_may_be_left_out(judged: Judge, signature: str) -> None:
    outcomes = judged(SCALED, f"def scaled({signature}): return factor * x\n")
    verdicts = {outcomes[check].verdict for check in ("accuracy", "edge_cases", "property_doubles")}
    assert verdicts == {Verdict.PASS}, [each.summary for each in outcomes.values()]


def test_what_has_none_may_not(judged: Judge) -> None:
    challenge = SCALED.replace("factor=2.0", "factor")
    answer = "def scaled(x, factor): return factor * x\n"
    outcomes = judged(challenge, answer, "edge_cases", "property_doubles")
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.ERROR}
    assert all("the challenge itself" in outcome.summary for outcome in outcomes.values())
    assert all("factor" in outcome.summary for outcome in outcomes.values())


def test_a_claim_gets_an_array_where_the_reference_gives_one(judged: Judge) -> None:
    answer = "def scaled(x, factor=2.0): return [factor * float(v) for v in x]\n"
    outcome = judged(SCALED, answer, "property_doubles")["property_doubles"]
    assert outcome.verdict is Verdict.PASS, outcome.summary
