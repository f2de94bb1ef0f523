"""Roles are found by meaning, in whatever way a submission spells them, and what is not found is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.faults import Raised, Unbound
from judge_tui.checks.runner import run_check
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task

Submit = Callable[..., Submission]

BACKWARD = """

def scale_backward(dy, cache):
    return dy * cache[1], (dy * cache[0]).sum(axis=0)
"""
FUNCTIONS = "def scale_forward(x, factor):\n    return x * factor, (x, factor)\n" + BACKWARD

SPELLINGS: dict[str, str | dict[str, str]] = {
    "functions": FUNCTIONS,
    "other order": "def scale_forward(factor, x):\n    return x * factor, (x, factor)\n" + BACKWARD,
    "keyword-only": "def scale_forward(*, factor, x):\n    return x * factor, (x, factor)\n" + BACKWARD,
    "aliases": "def scale_forward(inputs, weight):\n    return inputs * weight, (inputs, weight)\n"
    + BACKWARD,
    "unknown names": "def scale_forward(a, b):\n    return a * b, (a, b)\n" + BACKWARD,
    "defaults of its own between": "def scale_forward(x, verbose=False, factor=None, mode='fast'):\n"
    "    assert mode == 'fast' and not verbose\n    return x * factor, (x, factor)\n" + BACKWARD,
    "cache first": "def scale_forward(x, factor):\n    cache = (x, factor)\n    y = x * factor\n"
    "    return cache, y\n" + BACKWARD,
    "swapped gradients": "def scale_forward(x, factor):\n    return x * factor, (x, factor)\n\n\n"
    "def scale_backward(cache, grad_output):\n"
    "    dx = grad_output * cache[1]\n    dfactor = (grad_output * cache[0]).sum(axis=0)\n"
    "    return dfactor, dx\n",
    "dict": "def scale_forward(x, factor):\n    return {'cache': (x, factor), 'y': x * factor}\n\n\n"
    "def scale_backward(dy, cache):\n"
    "    return {'dx': dy * cache[1], 'grad_factor': (dy * cache[0]).sum(axis=0)}\n",
    "object": "from dataclasses import dataclass\n\n\n@dataclass\nclass Out:\n"
    "    y: object\n    cache: object\n\n\n"
    "def scale_forward(x, factor):\n    return Out(x * factor, (x, factor))\n" + BACKWARD,
    "class": "class Scale:\n    def __init__(self, factor):\n        self.factor = factor\n\n"
    "    def forward(self, x):\n        self.x = x\n        return x * self.factor\n\n"
    "    def backward(self, dy):\n        return dy * self.factor, (dy * self.x).sum(axis=0)\n",
    "static methods": "class Scale:\n    @staticmethod\n    def forward(x, factor):\n"
    "        return x * factor, (x, factor)\n\n    @staticmethod\n    def backward(dy, cache):\n"
    "        return dy * cache[1], (dy * cache[0]).sum(axis=0)\n",
    "sibling import": {"kv_cache.py": FUNCTIONS, "main.py": "from kv_cache import scale_forward\n"},
    "helper in a sibling": {
        "products.py": "def product(a, b):\n    return a * b\n",
        "code.py": "from products import product\n\n\ndef scale_forward(x, factor):\n"
        "    return product(x, factor), (x, factor)\n" + BACKWARD,
    },
    "package": {
        "scaling/__init__.py": "from .core import scale_forward\n",
        "scaling/core.py": "from .products import product\n\n\ndef scale_forward(x, factor):\n"
        "    return product(x, factor), (x, factor)\n" + BACKWARD,
        "scaling/products.py": "def product(a, b):\n    return a * b\n",
    },
    "package of another name": {
        "core.py": "from myscale.products import product\nfrom myscale import products\n\n\n"
        "def scale_forward(x, factor):\n    return product(x, factor), (x, factor)\n" + BACKWARD,
        "products.py": "def product(a, b):\n    return a * b\n",
    },
    "a file with the name of a module of Python": {
        "types.py": "def product(a, b):\n    return a * b\n",
        "code.py": "from types import product\n\n\ndef scale_forward(x, factor):\n"
        "    return product(x, factor), (x, factor)\n" + BACKWARD,
    },
    "a name that is no identifier": {"scale-layer v2.py": FUNCTIONS},
    "computes on import": "import numpy as np\nprint(np.ones(3).sum())\n" + FUNCTIONS,
    "a main block that fails": FUNCTIONS + "\n\nif __name__ == '__main__':\n    raise SystemExit(3)\n",
    "CRLF": FUNCTIONS.replace("\n", "\r\n"),
    "unused torch": "import torch\nimport torch.nn as nn\nfrom torch import optim\n" + FUNCTIONS,
    "a helper named like the role": "def scale(x, by):\n    raise ValueError('a helper')\n\n\n"
    "def forward_naive(x, factor):\n    return None\n\n\n" + FUNCTIONS,
    "words that hold other words": "class LatestCheckpointedDomainScale:\n"
    "    def forward(self, x, factor):\n        self.saved = x, factor\n        return x * factor\n\n"
    "    def backward(self, dy):\n        x, factor = self.saved\n"
    "        return dy * factor, (dy * x).sum(0)\n\n\n"
    "class TestScale:\n    def forward(self, x, factor):\n        return x\n",
    "a test beside it that would fail to import": {
        "code.py": FUNCTIONS,
        "test_code.py": "raise ValueError\n",
    },
}


def bench_on(scale: Task, submission: Submission) -> Bench:
    bench = Bench(submission, scale.contract, seed=3)
    bench.begin("test", 30.0)
    return bench


@pytest.mark.parametrize("name", SPELLINGS)
def test_both_roles_are_found_and_answer_rightly(scale: Task, submitted: Submit, name: str) -> None:
    bench = bench_on(scale, submitted(SPELLINGS[name]))
    try:
        sample = scale.contract.sample(bench.rng("inputs"))
        forward = bench.call("forward", sample.inputs)
        backward = bench.call("backward", sample.inputs, cache=forward.handle("cache"))
        x, factor, dy = (sample.inputs[key] for key in ("x", "factor", "dy"))
        assert (forward.array("y", (3, 4)) == x * factor).all()
        assert (backward.array("dx", (3, 4)) == dy * factor).all()
        assert (backward.array("dfactor", (4,)) == (dy * x).sum(axis=0)).all()
        assert bench.binding("forward").line > 0
        assert bench.binding("forward").why
    finally:
        bench.close()


def test_what_is_not_found_is_unbound_with_what_was_seen(scale: Task, submitted: Submit) -> None:
    source = "def scale_forward(x, factor):\n    return 'nothing'\n\n\ndef undo(a, b):\n    pass\n"
    bench = bench_on(scale, submitted(source))
    try:
        with pytest.raises(Unbound) as told:
            bench.binding("forward")
        assert "code.py:scale_forward" in told.value.message
        with pytest.raises(Unbound, match=r"saw code\.py:scale_forward\(x, factor\), code\.py:undo\(a, b\)"):
            bench.binding("backward")
    finally:
        bench.close()


def test_one_role_that_dies_leaves_the_other_bound(
    scale: Task, submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge_tui.checks.binding.settling._PROBE_BUDGET", 2.0)
    deadly = FUNCTIONS.partition("\n\ndef scale_backward")[0] + (
        "\n\ndef scale_backward(dy, cache):\n    while True:\n        pass\n"
    )
    bench = bench_on(scale, submitted(deadly))
    try:
        assert bench.binding("forward").name == "scale_forward"
        outcome = run_check(scale, replace(scale.by_id["right"], roles=("forward", "backward")), bench)
        assert (outcome.verdict, outcome.summary) == (
            "fail", "the submission took longer than its budget of 2 s"
        )  # fmt: skip
    finally:
        bench.close()


def test_a_written_binding_settles_what_nothing_else_would(scale: Task, submitted: Submit) -> None:
    files = {
        "code.py": "class Box:\n    def __init__(self, by):\n        self.by = by\n\n"
        "    def run(self, n, rows):\n"
        "        assert n == 3 and isinstance(rows, list)\n        self.rows = rows\n"
        "        return [{'answer': [[v * b for v, b in zip(r, self.by)] for r in rows]}]\n",
        "submission.toml": '[binding.forward]\ntarget = "code.py:Box.run"\ninit = ["by=factor"]\n'
        'args = ["n==3", "rows=lists:x"]\nreturns = { y = "[0][\'answer\']", cache = "self" }\n',
    }
    bench = bench_on(scale, submitted(files))
    try:
        assert bench.binding("forward").origin == "submission.toml"
        assert bench.binding("forward").line == 5
        assert run_check(scale, scale.by_id["right"], bench).verdict == "pass"
    finally:
        bench.close()


def test_a_written_target_alone_is_called_as_its_signature_allows(scale: Task, submitted: Submit) -> None:
    files = {
        "code.py": "def other(x, factor):\n    return -x, 0\n\n\n"
        "def stretched(factor, inputs):\n    return inputs * factor, (inputs, factor)\n\n\n"
        "def scale_forward(x, factor):\n    return -x, 0\n",
        "submission.toml": '[binding.forward]\ntarget = "code.py:stretched"\n',
    }
    bench = bench_on(scale, submitted(files))
    try:
        assert bench.binding("forward").origin == "submission.toml"
        assert bench.binding("forward").line == 5
        assert run_check(scale, scale.by_id["right"], bench).verdict == "pass"
    finally:
        bench.close()


def test_a_written_target_that_raises_says_where_and_is_no_failure(scale: Task, submitted: Submit) -> None:
    files = {
        "code.py": "def stretched(factor, x):\n    return x.tokens * factor, (x, factor)\n",
        "submission.toml": '[binding.forward]\ntarget = "code.py:stretched"\n',
    }
    bench = bench_on(scale, submitted(files))
    try:
        outcome = run_check(scale, scale.by_id["right"], bench)
        assert outcome.verdict == "unbound"
        assert "has no attribute 'tokens' (code.py:2: `x.tokens`, x is float64 (3, 4))" in outcome.summary
    finally:
        bench.close()


ADAPTER = "from code_ import scaled\n\n\ndef forward(x, factor):\n    return scaled(factor, x), (x, factor)\n"


def test_an_adapter_overrides_what_is_found_and_what_is_written(scale: Task, submitted: Submit) -> None:
    files = {
        "code_.py": "def scaled(a, b):\n    return a * b\n\n\n"
        "def scale_forward(x, factor):\n    return -x, 0\n",
        "submission.toml": '[binding.forward]\ntarget = "code_.py:scale_forward"\nargs = ["x", "factor"]\n',
        "adapter.py": ADAPTER,
    }
    bench = bench_on(scale, submitted(files))
    try:
        assert bench.binding("forward").origin == "adapter.py"
        assert run_check(scale, scale.by_id["right"], bench).verdict == "pass"
    finally:
        bench.close()


def test_an_overlay_brings_bindings_for_a_submission_that_must_stay_untouched(
    scale: Task, submitted: Submit, tmp_path: Path
) -> None:
    submission = submitted({"code_.py": "def scaled(a, b):\n    return a * b\n"})
    overlay = tmp_path / "bindings" / "someone" / "scale"
    overlay.mkdir(parents=True)
    (overlay / "adapter.py").write_text(ADAPTER)
    (overlay / "submission.toml").write_text('model = "Some One"\n')
    laid = Submission.at(submission.path, bindings=tmp_path / "bindings")
    assert laid.title == "Some One"
    bench = bench_on(scale, laid)
    try:
        assert run_check(scale, scale.by_id["right"], bench).verdict == "pass"
    finally:
        bench.close()
    assert {path.name for path in submission.path.iterdir()} == {"code_.py"}


def test_a_malformed_binding_is_a_workspace_error_every_time(scale: Task, submitted: Submit) -> None:
    bench = bench_on(
        scale, submitted({"code.py": FUNCTIONS, "submission.toml": "[binding.forward]\nx = 1\n"})
    )
    try:
        for _ in range(2):
            with pytest.raises(WorkspaceError, match="unknown key 'x'"):
                bench.binding("forward")
    finally:
        bench.close()


def test_an_exception_in_a_call_names_the_submissions_own_line(scale: Task, submitted: Submit) -> None:
    bench = bench_on(scale, submitted(FUNCTIONS + "\n\ndef look(x):\n    return {}[\n        'gamma']\n"))
    try:
        bench.binding("forward")
        moved = replace(bench.binding("forward"), name="look", args=bench.binding("forward").args[:1])
        bench.bindings.found["forward"] = moved
        with pytest.raises(Raised, match="raised KeyError: 'gamma'") as told:
            bench.call("forward", scale.contract.sample(bench.rng()).inputs)
        assert (told.value.file, told.value.line) == ("code.py", 10)
        assert "Traceback" in told.value.output
    finally:
        bench.close()
