"""Orders that are drawn twice may be one: of one seed, of a state that is restored, of what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.splitting.finding import Mixed, mixed

HEAD = "import numpy as np\nimport random\n"
#: What is right → code.
RIGHT = {
    "a state that is restored": """
def main(w, rng, n):
    state = rng.bit_generator.state
    train = w[rng.permutation(len(w))[:n]]
    rng.bit_generator.state = state
    val = w[rng.permutation(len(w))[n:]]
    kept = np.random.get_state()
    train_b = w[np.random.permutation(len(w))[:n]]
    np.random.set_state(kept)
    val_b = w[np.random.permutation(len(w))[n:]]
""",
    "a generator that is copied": """
import copy
def main(w, n):
    rng = np.random.default_rng(1)
    again = copy.deepcopy(rng)
    train, val = w[rng.permutation(len(w))[:n]], w[again.permutation(len(w))[n:]]
""",
    "a seed for each method": """
class Windows:
    def __init__(self, w, n):
        self.w, self.n = w, n
    def train(self, seed):
        return self.w[np.random.default_rng(seed).permutation(len(self.w))[:self.n]]
    def val(self, seed):
        return self.w[np.random.default_rng(seed).permutation(len(self.w))[self.n:]]
    def train_of(self, rng):
        return self.w[rng.permutation(len(self.w))[:self.n]]
    def val_of(self, rng):
        return self.w[rng.permutation(len(self.w))[self.n:]]
""",
    "seeded by the caller": """
class Windows:
    def __init__(self, w, n):
        self.w, self.n = w, n
    def train(self):
        return self.w[np.random.permutation(len(self.w))[:self.n]]
    def val(self):
        return self.w[np.random.permutation(len(self.w))[self.n:]]
def main(w):
    data = Windows(w, 9)
    np.random.seed(0)
    train = data.train()
    np.random.seed(0)
    val = data.val()
""",
    "cached order": """
import functools
@functools.lru_cache(None)
def order(n):
    return np.random.permutation(n)
def main(w):
    train = w[order(len(w))[:9]]
    val = w[order(len(w))[9:]]
""",
    "cached property": """
import functools
class D:
    def __init__(self, w):
        self.w = w
    @functools.cached_property
    def perm(self):
        return np.random.permutation(len(self.w))
    def train(self):
        return self.w[self.perm[:9]]
    def val(self):
        return self.w[self.perm[9:]]
""",
    "dataclass with seed": """
from dataclasses import dataclass
@dataclass
class Split:
    seed: int = 0
    def _order(self, n):
        return np.random.RandomState(self.seed).permutation(n)
    def train(self, w):
        return w[self._order(len(w))[: int(.9 * len(w))]]
    def val(self, w):
        return w[self._order(len(w))[int(.9 * len(w)):]]
def main(w):
    s = Split()
    a, b = s.train(w), s.val(w)
""",
    "global cache": """
_PERM = None
def perm(n):
    global _PERM
    if _PERM is None:
        _PERM = np.random.permutation(n)
    return _PERM
def main(w):
    train = w[perm(len(w))[:9]]
    val = w[perm(len(w))[9:]]
""",
    "lazy self": """
class D:
    def __init__(self, w):
        self.w = w
        self._perm = None
    def perm(self):
        if self._perm is None:
            self._perm = np.random.permutation(len(self.w))
        return self._perm
    def train(self):
        return self.w[self.perm()[:9]]
    def val(self):
        return self.w[self.perm()[9:]]
""",
    "reseeded": """
def main(w):
    np.random.seed(3)
    train = w[np.random.permutation(len(w))[:90]]
    np.random.seed(3)
    val = w[np.random.permutation(len(w))[90:]]
""",
    "same seed": """
def order(n, seed=7):
    return np.random.default_rng(seed).permutation(n)
def train_windows(w, cfg):
    return w[np.random.default_rng(cfg.seed).permutation(len(w))[:90]]
def val_windows(w, cfg):
    return w[np.random.default_rng(cfg.seed).permutation(len(w))[90:]]
def main(w, cfg):
    train, val = train_windows(w, cfg), val_windows(w, cfg)
    train_a = w[order(len(w))[:90]]
    val_a = w[order(len(w))[90:]]
""",
}


def found(folder: Path, **files: str) -> list[Mixed]:
    """What is told of a submission of some files."""
    place = folder / "somebody" / "ternary_training"
    place.mkdir(parents=True)
    for name, text in files.items():
        (place / f"{name}.py").write_text(HEAD + text)
    return mixed(Submission.at(place))


@pytest.mark.parametrize("name", RIGHT)
def test_parts_of_orders_that_may_be_one_are_left_alone(name: str, tmp_path: Path) -> None:
    assert not found(tmp_path, ternary=RIGHT[name])
