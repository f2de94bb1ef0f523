"""Work that is put off, or was done before, is timed all the same."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.timing import Size, Timing
from judge_tui.checks.verdict import Verdict

#: The module, which the check of its name hides.
THROUGHPUT = importlib.import_module("judge_tui.checks.generic.throughput")
FOLDER = Path(__file__).parent
PATHS = sorted(path for kind in ("hostile", "twins") for path in (FOLDER / kind).glob("*.py"))
BACKWARD = (
    "\ndef scale_backward(dy, cache):\n    x, factor = cache\n    return dy * factor, (dy * x).sum(0)\n"
)
PLAIN = "def call(x, factor):\n    return x * factor\n"
BINDING = '[binding.forward]\ntarget = "code.py:scale"\nreturns = {{y = "{}", cache = "{}"}}\n'
#: Answers that nothing binds by itself.
BOUND = {"array_on_demand": ("[0]", "[1]"), "property_on_demand": (".y", ".cache")}
#: What an answer takes in the code above, beside a reference that takes next to nothing.
SLOW = 0.08


def size(rows: int) -> Size:
    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        x = rng.standard_normal((rows, 4))
        return {"x": x, "factor": rng.standard_normal(4), "dy": x}

    return Size(f"{rows} rows", rows, inputs, (rows, 4))


@pytest.fixture
def timed(scale: Task, tmp_path: Path) -> Task:
    """The smallest task, with a call to time."""
    (tmp_path / "plain").mkdir()
    plain = tmp_path / "plain" / "plain.py"
    plain.write_text(PLAIN)
    timing = Timing("forward", plain, ("x", "factor"), (size(100), size(10_000)), answer="y")
    return replace(scale, contract=replace(scale.contract, timing=timing))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_nothing_is_computed_in_free_time(
    path: Path, timed: Task, submitted: Callable[..., Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    # however noisy the machine of the tests is
    monkeypatch.setattr(THROUGHPUT, "withheld", lambda ours, theirs: "")
    files = {"code.py": path.read_text() + BACKWARD}
    if path.stem in BOUND:
        files["submission.toml"] = BINDING.format(*BOUND[path.stem])
    outcome = judge(timed, submitted(files), seed=1, checks=("throughput",))["throughput"]
    figures = {item.quantity.partition(",")[0]: item.measured for item in outcome.evidence}
    took = figures.get("seconds per call of forward", float("inf"))
    assert isinstance(took, float)
    assert took > SLOW, outcome
    assert outcome.verdict in (Verdict.PASS, Verdict.SKIP), outcome
    assert path.parent.name == "hostile" or outcome.verdict is Verdict.PASS, outcome
