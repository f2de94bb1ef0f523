"""Answers in forms of their own: what holds them, how they are called, and what they are written as."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Together

PAIR = """
import numpy as np
def reference(x, w): return x * w, x[0] + w
def inputs(rng, n): return {"x": rng.standard_normal((3, n)), "w": rng.standard_normal(n)}
CASES = [dict(n=2), dict(n=7)]
"""
NAMED = "from collections import namedtuple\nGave = namedtuple('Gave', 'product shifted')\n"


def test_however_an_answer_is_called_and_held(together: Together) -> None:
    found = together(
        PAIR,
        {
            "named_otherwise": NAMED + "def double(x, w): return Gave(x * w, w + x[0])\n",
            "spread": "def double(*args):\n    x, w = args\n    return x * w, w + x[0]\n",
            "instance": "class D:\n    def __call__(self, x, w): return x * w, w + x[0]\ndouble = D()\n",
            "partial": "import functools\ndef f(zero, x, w): return x * w + zero, w + x[0]\n"
            "double = functools.partial(f, 0)\n",
        },
    )
    assert {name: each.summary for name, each in found.items() if each.verdict is not Verdict.PASS} == {}


ROWS = PAIR.replace(", x[0] + w", "")


def test_an_array_row_by_row(together: Together) -> None:
    found = together(
        ROWS,
        {
            "rows": "def double(x, w): return tuple(tuple(row) for row in x * w)\n",
            "buffer": "def double(x, w): return memoryview(x * w)\n",
            "generator": "def double(x, w): yield from x * w\n",
            "masked": "import numpy as np\ndef double(x, w): return np.ma.masked_greater(x * w, 0)\n",
        },
    )
    assert found["rows"].verdict is found["buffer"].verdict is Verdict.PASS, found["rows"].summary
    assert "a generator instead of numbers" in found["generator"].summary
    assert found["masked"].verdict is Verdict.FAIL
    assert "a MaskedArray, which does not cross by value" in found["masked"].summary


PLAIN = """
import numpy as np
def reference(n):
    rows = np.zeros(3, [("a", "f8"), ("b", "i4", (2,))])
    rows["a"], rows["b"] = n / 7, n
    return {"power": 7 ** (5000 + n), "long": np.arange(250_000), "rows": rows, "names": np.array(["a", "b"])}
def inputs(rng, n): return {"n": n}
CASES = [dict(n=2), dict(n=9)]
"""
SAID = """
import array
import numpy as np
class Arange:
    def __init__(self, stop): self.stop = stop
    def __array__(self, dtype=None, copy=None): return np.arange(self.stop)
def double(n):
    rows = {"a": array.array("d", [n / 7] * 3), "b": [[n, n]] * 3}
    return {"power": pow(7, 5000 + n), "long": Arange(250_000), "rows": rows, "names": ["a", "b"]}
"""


def test_plain_data_of_every_kind_and_length(together: Together) -> None:
    found = together(PLAIN, {"right": SAID, "wrong": SAID.replace("5000 + n)", "5000 + n) + 1")})
    assert found["right"].verdict is Verdict.PASS, found["right"].summary
    assert found["wrong"].verdict is Verdict.FAIL
    assert "power: a whole number of" in found["wrong"].summary


MODES = """
import numpy as np
def reference(x, y, mode="full", kinds=("a", "b")): return np.convolve(x, y, mode)
def inputs(rng): return {"x": rng.standard_normal(6), "y": rng.standard_normal(3)}
"""


def test_a_text_that_the_reference_has_by_default_is_handed_to_who_has_none(together: Together) -> None:
    body = "    import numpy as np\n    return np.convolve(x, y, mode)\n"
    found = together(
        MODES,
        {
            "asks": f"def double(x, y, mode):\n{body}",
            "by_its_own": f"def double(x, y, mode='full', kinds=None):\n{body}",
            "another_by_its_own": f"def double(x, y, mode='same'):\n{body}",
        },
    )
    verdicts = [found[name].verdict for name in ("asks", "by_its_own", "another_by_its_own")]
    assert verdicts == [Verdict.PASS, Verdict.PASS, Verdict.FAIL], [each.summary for each in found.values()]
