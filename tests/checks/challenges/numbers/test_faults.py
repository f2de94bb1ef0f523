"""What is off with a challenge is told as the challenge's, with file and line, and never as an answer's."""

from __future__ import annotations

import pytest

from judge_tui.checks.verdict import CHALLENGE, Verdict

from .conftest import Judge

ANSWER = "def double(x): return 2 * x"
GOOD = """
def reference(x): return 2 * x
def inputs(rng, n): return {"x": rng.standard_normal(n)}
CASES = [dict(n=3)]
"""


@pytest.mark.parametrize(
    ("challenge", "words"),
    [
        ("def reference(x: return x", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        (GOOD.replace("return 2", "print('-' * (11 << 20)); return 2"), "reference prints 12 MB"),
        ("", "challenge.py has no function inputs"),
        ("def inputs(rng): return {'x': 1}", "neither reference"),
        (GOOD.replace("return {", "return 3 #"), "no dict"),
        (GOOD.replace("{\"x\": rng.standard_normal(n)}", "{}"), "empty dict"),
        (GOOD.replace("\"x\"", "\"y\""), "inputs draws 'y', which reference does not take"),
        (GOOD.replace("reference(x)", "reference(x, z)"), "reference takes 'z'"),
        ("import numpy, time\n" + GOOD.replace("rng.standard_normal(n)", "numpy.array([time.time_ns()])"),
         "draws from the same seed again"),
        (GOOD.replace("return 2 * x", "return x.no"), "AttributeError"),
        (GOOD.replace("return 2 * x", "return open"), "does not cross by value"),
        (GOOD + "CASES = []", "CASES is empty"),
        (GOOD + "CASES = 5", "challenge.py:5: CASES must be a list of dicts"),
        (GOOD.replace("CASES", "CASE"), "challenge.py:4: CASE is probably meant to be CASES"),
        (GOOD.replace("CASES", "cases"), "challenge.py:4: cases is probably meant to be CASES"),
        (GOOD.replace("CASES = [dict(n=3)]", "SIZES = [3]"),
         "challenge.py:3: challenge.py has no CASES that says 'n' to inputs(rng, n)"),
        (GOOD.replace("[dict(n=3)]", "[dict(n=1), dict()]"),
         "challenge.py:4: CASES[1] does not say 'n', which inputs(rng, n) takes"),
        (GOOD + "BENCH = dict(size=3)", "challenge.py:5: BENCH says 'size', which inputs(rng, n) does not"),
        (GOOD.replace("rng, n", "n"), "challenge.py:3: inputs(n) must take the generator first"),
        (GOOD.replace("reference", "refrence"), "challenge.py:2: refrence is probably meant to be reference"),
        (GOOD.replace("inputs(", "input("), "challenge.py:3: input is probably meant to be inputs"),
        (GOOD + "edge_cases = [('odd', 3)]", "challenge.py:5: edge_cases must be a function"),
        (GOOD + "def TOLERANCE(): pass", "challenge.py:5: TOLERANCE is a function, and must be a value"),
        (GOOD + "NAMES = [3]", "NAMES must be a list of texts"),
        (GOOD + "ALIASES = {'q': ['r']}", "ALIASES names 'q'"),
        (GOOD + "DTYPES = ['int8']", "no floating-point dtype"),
        (GOOD + "TOLERANCE = 'tight'", "challenge.py:5: TOLERANCE must be"),
        (GOOD + "TOLERANCE = {'resutl': 1e-3}", "neither a dtype nor a result (results: result)"),
        (GOOD.replace("2 * x", "seen.append(x) or x * len(seen)") + "seen = []",
         "another answer to the same inputs"),
        (GOOD.replace("2 * x", "x.sort()"), "reference gives None in every case"),
        ("import numpy as np\n" + GOOD.replace("2 * x", "np.ma.masked_less(x, 0)"),
         "a MaskedArray, which does not cross by value"),
        (GOOD + "GRADIENTS = ['w']", "GRADIENTS names 'w'"),
        (GOOD.replace("dict(n=3)", "dict(m=3)"),
         "challenge.py:4: CASES says 'm', which inputs(rng, n) does not take"),
        ("while True: pass", "did not come back within"),
        ("import os; os._exit(0)", "exited with status 0"),
        ("print('x' * 10**9)\n" + GOOD.replace("2 * x", "x.no"), "prints 1,000 MB, which nobody reads"),
    ],
)  # fmt: skip
def test_a_faulty_challenge_says_so(judged: Judge, challenge: str, words: str) -> None:
    found = judged(challenge, ANSWER)["accuracy"]
    assert (found.verdict, found.fault) == (Verdict.ERROR, CHALLENGE), found.summary
    assert words in found.summary, found.summary


def test_a_package_that_the_challenge_needs_is_a_skip(judged: Judge) -> None:
    found = judged("import not_there_at_all\n" + GOOD, ANSWER)["accuracy"]
    assert found.verdict is Verdict.SKIP
    assert "the challenge itself needs not_there_at_all" in found.summary


@pytest.mark.parametrize(
    ("more", "check", "words"),
    [
        ("def edge_cases(rng):\n    yield 'odd', {'x': None}", "edge_cases", "edge case 'odd'"),
        ("def edge_cases(rng):\n    yield 3", "edge_cases",
         "challenge.py:6: edge_cases must yield (name, inputs)"),
        ("def edge_cases():\n    yield 'a', {}", "edge_cases",
         "challenge.py:6: edge_cases: raised TypeError"),
        ("def edge_cases(rng):\n    return iter(())", "edge_cases", "yields nothing"),
        ("def edge_cases(rng):\n    import numpy\n    while True: yield 'a', {'x': numpy.ones(1)}",
         "edge_cases", "yields more than"),
        ("def error_cases(rng):\n    yield 'odd', {'x': 3.0}, ValueError", "errors",
         "answers instead of raising ValueError"),
        ("def error_cases(rng):\n    yield 'odd', {'x': None}, ValueError", "errors",
         "raises TypeError instead of ValueError"),
        ("def property_odd(call, rng):\n    assert call(x=1.0) == 3", "property_odd",
         "does not hold for the reference itself"),
        ("def property_odd(call, rng):\n    x.y", "property_odd", "NameError"),
        ("GRADIENTS = ['x']\ndef gradients(dout, x): return 3 * dout", "gradients",
         "off the reference's differences"),
    ],
)  # fmt: skip
def test_what_fails_on_the_reference_is_the_challenge_s_fault(
    judged: Judge, more: str, check: str, words: str
) -> None:
    answer = ANSWER + "\ndef backward(dout, x): return 2 * dout"
    found = judged(f"{GOOD}\n{more}\n", answer, check)[check]
    assert (found.verdict, found.fault) == (Verdict.ERROR, CHALLENGE), found.summary
    assert words in found.summary, found.summary
