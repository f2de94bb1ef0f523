"""The challenge that ``judge-tui challenge new`` writes: a moving average, asked for in up to three ways.

It is small and judges as it is, so that each part of it can be replaced while the others go on working. All
ways ask for the same, and its answers are put together of a part for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from judge_tui.checks.challenges.challenge import CASES, NUMBERS, TESTS

__all__ = ["KINDS", "RIGHT", "WRONG", "skeleton"]

#: What the kinds are called on the command line.
KINDS = {"numbers": NUMBERS, "tests": TESTS, "programs": CASES}
#: Where its answers lie: one that must pass, one that must not.
RIGHT, WRONG = "right/plain", "wrong/short_start"

_STATEMENT = """\
# Moving average

Replace each value by the mean of the `window` values that end with it; at the beginning, of those that there
are. With a window of 3, the values 3, 5, 10, 3 become 3, 4, 6, 6.

"""
_TOML = """\
# Every key has a default: take away the # before what you need.
# title = "Moving average"     # else the first heading of challenge.md
# entry = "answer.py"          # where names do not tell which file, or callable ("answer.py:name"), is meant
"""
_LIMITS = """\

# [limits]                     # of a call, a test or a case
# seconds = 2.0                # 10 by default
# memory = "512 MiB"           # 1 GiB by default
"""


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to ask for it.

    Attributes:
        asked: Its line in the statement.
        files: Relative path → text.
        imports: What its part of an answer imports.
        right: That part.
        wrong: The same with a mistake: the beginning is divided by the whole window.
        caught_by: The check that must fail then.
        keys: Lines of ``challenge.toml``, before its tables.
        tables: Tables of it.
    """

    asked: str
    files: dict[str, str]
    imports: str
    right: str
    wrong: str
    caught_by: str
    keys: str = ""
    tables: str = ""


_NUMBERS = _Way(
    "- `moving_average(x, window)` takes values (N,) and gives their means (N,). A window below 1 is a"
    " `ValueError`.\n",
    {
        NUMBERS: '''\
"""Moving average: the mean of the window values that end with each; at the beginning, of those there are."""

import numpy as np

# what the answer's function may be called; without this: the challenge's name, solution, solve or forward
NAMES = ["moving_average", "rolling_mean"]


def reference(x, window):
    """The truth, as plain as it can be said. Answers are held against it in float64 and in float32."""
    if window < 1:
        raise ValueError("the window must be at least 1")
    return np.array([x[max(0, i + 1 - window) : i + 1].mean() for i in range(len(x))])


def inputs(rng, length, window):
    """What an answer is called with, for one of CASES; rng draws other numbers in every run."""
    return {"x": rng.standard_normal(length), "window": window}


CASES = [dict(length=12, window=3), dict(length=1, window=2), dict(length=400, window=20)]


def edge_cases(rng):
    """Inputs that are worth a name of their own."""
    yield "a window longer than the values", {"x": rng.standard_normal(4), "window": 9}
    yield "a window of one", {"x": rng.standard_normal(5), "window": 1}


def error_cases(rng):
    """Inputs that must be refused, and by what."""
    yield "a window of none", {"x": rng.standard_normal(5), "window": 0}, ValueError


# a claim on the answer: call(...) gives what the answer gives, and an assertion says what is wrong
def property_old_values_are_forgotten(call, rng):
    """What came before the window has no say in a mean."""
    x = rng.standard_normal(30)
    other = np.concatenate([rng.standard_normal(10), x[10:]])
    assert np.allclose(call(x=x, window=4)[13:], call(x=other, window=4)[13:]), "a value counts too long"


# Also known: ALIASES, RESULTS, DTYPES, TOLERANCE, check, GRADIENTS, BENCH, FORBIDDEN, FRAMEWORKS, PACKAGES.
'''
    },
    "import numpy as np",
    '''\
def moving_average(x, window):
    """Means of the window values that end with each, of values (N,)."""
    if window < 1:
        raise ValueError("the window must be at least 1")
    return np.array([np.mean(x[max(0, i + 1 - window) : i + 1]) for i in range(len(x))])
''',
    '''\
def moving_average(x, window):
    """Means of the window values that end with each, of values (N,)."""
    if window < 1:
        raise ValueError("the window must be at least 1")
    return np.array([np.sum(x[max(0, i + 1 - window) : i + 1]) / window for i in range(len(x))])
''',
    "accuracy",
)
_TESTS = _Way(
    "- `MovingAverage(window)` takes one value at a time: `push(value)` gives the mean. A window below 1 is a"
    " `ValueError` that says so.\n",
    {
        "tests/test_moving_average.py": '''\
"""The judge's own tests; `submission` is the answer, whatever its file is called."""

import pytest
from submission import MovingAverage


def means(window, values):
    average = MovingAverage(window)
    return [average.push(value) for value in values]


def test_at_the_beginning_it_is_of_what_there_is():
    assert means(3, [3.0, 5.0]) == [3.0, 4.0]


def test_values_leave_the_window():
    assert means(3, [3.0, 5.0, 10.0, 3.0]) == pytest.approx([3.0, 4.0, 6.0, 6.0])


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_below_one_is_refused(window):
    with pytest.raises(ValueError, match="window"):
        MovingAverage(window)
'''
    },
    "from collections import deque",
    '''\
class MovingAverage:
    """The mean of the newest values, as many as the window holds."""

    def __init__(self, window):
        if window < 1:
            raise ValueError("the window must be at least 1")
        self.held = deque(maxlen=window)

    def push(self, value):
        self.held.append(value)
        return sum(self.held) / len(self.held)
''',
    '''\
class MovingAverage:
    """The mean of the newest values, as many as the window holds."""

    def __init__(self, window):
        if window < 1:
            raise ValueError("the window must be at least 1")
        self.held = deque(maxlen=window)

    def push(self, value):
        self.held.append(value)
        return sum(self.held) / self.held.maxlen
''',
    "test_at_the_beginning_it_is_of_what_there_is",
    tables="""
# [tests]
# process = "file"             # the tests of a file share one process of the answer; "test" by default
""",
)
_PROGRAMS = _Way(
    "- The program reads the window, and the values on the next line; it prints their means on one line.\n",
    {
        "cases/sample/1.in": "3\n3 5 10 3\n",
        "cases/sample/1.ans": "3 4 6 6\n",
        "cases/edges/longer_than_the_values.in": "9\n4 8 -3\n",
        "cases/edges/longer_than_the_values.ans": "4 6 3\n",
        "cases/edges/no_values.in": "2\n\n",
        "cases/edges/no_values.ans": "\n",
    },
    "import sys",
    '''\
def main():
    """Read the window and the values, and print the means."""
    first, *rest = sys.stdin.read().split()
    window, values = int(first), [float(word) for word in rest]
    held = [values[max(0, end - window) : end] for end in range(1, len(values) + 1)]
    print(*(sum(each) / len(each) for each in held))


if __name__ == "__main__":
    main()
''',
    '''\
def main():
    """Read the window and the values, and print the means."""
    first, *rest = sys.stdin.read().split()
    window, values = int(first), [float(word) for word in rest]
    held = [values[max(0, end - window) : end] for end in range(1, len(values) + 1)]
    print(*(sum(each) / window for each in held))


if __name__ == "__main__":
    main()
''',
    "sample",
    keys='compare = "float 1e-6"         # "tokens" by default; also "exact", "lines" and "validator"\n',
    tables="""
# [group.edges]                # limits of the cases in one folder
# seconds = 5.0

# [language.python]
# factor = 3.0                 # a slower language has more time
""",
)
_WAYS = {"numbers": _NUMBERS, "tests": _TESTS, "programs": _PROGRAMS}


def skeleton(kinds: Collection[str]) -> dict[str, str]:
    """The files of a challenge.

    Args:
        kinds: Of :data:`KINDS`, one or several.

    Returns:
        Relative POSIX path → text.
    """
    ways = [way for kind, way in _WAYS.items() if kind in kinds]
    files = {"challenge.md": _STATEMENT + "".join(way.asked for way in ways)}
    for way in ways:
        files |= way.files
    files["challenge.toml"] = "".join(_settings(ways))
    files[f"{RIGHT}/answer.py"] = _answer(ways, [way.right for way in ways])
    files[f"{WRONG}/answer.py"] = _answer(ways, [way.wrong for way in ways])
    caught = ", ".join(f'"{way.caught_by}"' for way in ways)
    files[f"{WRONG}/submission.toml"] = f"must_fail = [{caught}]\n"
    return files


def _settings(ways: list[_Way]) -> Iterator[str]:
    yield _TOML
    yield from (way.keys for way in ways)
    yield _LIMITS
    yield from (way.tables for way in ways)


def _answer(ways: list[_Way], parts: list[str]) -> str:
    """A file of Python: Python's own modules, then others, then a part for each way."""
    own = sorted((way.imports for way in ways if way is not _NUMBERS), reverse=True)
    others = [way.imports for way in ways if way is _NUMBERS]
    head = "\n\n".join("\n".join(block) for block in (own, others) if block)
    return "\n\n".join([f"{head}\n", *parts])
