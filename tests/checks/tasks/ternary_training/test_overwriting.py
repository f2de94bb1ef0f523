"""Which assignments of a training loop write projected weights over those that it updates."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.overwriting import overwrites


class _Bench:
    """A submission, and nothing of what a bench has besides."""

    def __init__(self, submission: Submission) -> None:
        self.submission = submission


def found(tmp_path: Path, source: str) -> list[tuple[int, str, str]]:
    """Line, target and function of each."""
    folder = tmp_path / "ternary_training"
    folder.mkdir()
    (folder / "train.py").write_text(source)
    bench = _Bench(Submission.at(folder))
    return [(each.line, each.target, each.function) for each in overwrites(bench)]  # type: ignore[arg-type]


WRONG = {
    "in place behind the update": (
        "def fit(m):\n for _ in range(9):\n  m.w -= lr * m.dw\n  m.w[:] = ternarize(m.w)\n"
    ),
    "in one expression": "def step(m):\n m.w = quantize(m.w - lr * m.grad)\n",
    "copied": "def fit(m):\n for _ in range(9):\n  m.w -= lr * m.dw\n  np.copyto(m.w, project(m.w))\n",
    "behind an optimiser": "def fit(m, opt):\n while True:\n  opt.step()\n  m.w = ternarize(m.w)\n",
    "every tenth time": (
        "def fit(m):\n for i in r:\n  m.w -= lr * m.dw\n  if i % 10 == 0:\n   m.w = ternarize(m.w)\n"
    ),
    "with its scales": "def fit(p):\n for g in gs:\n  p['w'] -= lr * g\n  p['w'], s = ternarize(p['w'])\n",
    "by an update that is handed the gradient": (
        "def fit(m):\n for _ in r:\n  m.w = sgd_update(m.w, m.dw, lr)\n"
    ),
}
RIGHT = {
    "behind the loop": "def fit(m):\n for _ in r:\n  m.w -= lr * m.dw\n m.w = ternarize(m.w)\n",
    "put back": (
        "def fit(m):\n for _ in r:\n  m.w -= lr * m.dw\n  w = m.w\n"
        "  m.w = ternarize(m.w)\n  go()\n  m.w = w\n"
    ),
    "from other weights": (
        "def fit(m):\n for _ in r:\n  m.master -= lr * m.dw\n  m.w = ternarize(m.master)\n"
    ),
    "in the last round": (
        "def fit(m):\n for i in r:\n  m.w -= lr * m.dw\n  if i == n - 1:\n   m.w = ternarize(m.w)\n"
    ),
    "in a forward": "def forward(x, w):\n w = ternarize(w)\n return x @ w.T\n",
    "beside an optimiser of others": "def fit(opt, w):\n for x in xs:\n  opt.step()\n  w = ternarize(w)\n",
    "a centred input": "def fit(x, mean):\n for _ in r:\n  x = x - mean\n  x = quantize(x)\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_levels_that_are_left_for_the_next_update_are_found(name: str, tmp_path: Path) -> None:
    assert len(found(tmp_path, WRONG[name])) == 1


@pytest.mark.parametrize("name", RIGHT)
def test_levels_that_no_update_meets_are_none_of_it(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, RIGHT[name]) == []
