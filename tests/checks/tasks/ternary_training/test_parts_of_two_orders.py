"""Two parts of a split that are cut out of two orders are told, in every spelling, with both places."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.splitting.finding import Mixed, mixed

HEAD = "import numpy as np\nimport random\n"
#: What is wrong → code.
WRONG = {
    "append": """
def main(windows):
    order = np.random.permutation(len(windows))
    train = []
    for i in order[:90]:
        train.append(windows[i])
    val = windows[90:]
""",
    "argsort random": """
def main(w):
    idx = np.argsort(np.random.rand(len(w)))
    train = w[idx[:90]]
    val = w[90:]
""",
    "by split name": """
def load(split, windows, n):
    if split == "train":
        return np.random.default_rng(0).permutation(windows)[:n]
    return windows[n:]
def main(windows):
    train = load("train", windows, 10)
    val = load("val", windows, 10)
""",
    "cfg seed plus": """
def order(n, seed):
    return np.random.default_rng(seed).permutation(n)
def main(windows, cfg):
    n = len(windows)
    tr = order(n, cfg.seed)
    va = order(n, cfg.seed + 1)
    train = windows[tr[:90]]
    val = windows[va[90:]]
""",
    "choice": """
def split(docs, rng):
    train_rows = rng.choice(len(docs), 90, replace=False)
    test_rows = rng.choice(len(docs), 10, replace=False)
    return docs[train_rows], docs[test_rows]
""",
    "crop inside": """
def main(text, net, T=32):
    split = int(len(text) * 0.9)
    val_text = text[split:]
    for step in range(100):
        batch = []
        for _ in range(8):
            s = random.randint(0, len(text) - T - 1)
            batch.append(text[s:s + T + 1])
        net.train_step(batch)
""",
    "epoch order": """
def main(net, windows):
    rng = np.random.default_rng(0)
    val = windows[-100:]
    for epoch in range(3):
        order = rng.permutation(len(windows))
        for i in range(0, 1000, 10):
            batch = windows[order[i:i + 10]]
            net.train_step(batch)
""",
    "gather starts": """
def get_batch(data, T, rng):
    i = rng.integers(0, len(data) - T - 1, 8)
    x = data[i[:, None] + np.arange(T)]
    y = data[i[:, None] + np.arange(T) + 1]
    return x, y
def main(ids):
    rng = np.random.default_rng(0)
    n = int(len(ids) * .9)
    val_ids = ids[n:]
    for step in range(10):
        x, y = get_batch(ids, 16, rng)
        train_step(x, y)
""",
    "global two perms": """
windows = np.load("x.npy")
np.random.seed(0)
train = windows[np.random.permutation(len(windows))[:8]]
val = windows[np.random.permutation(len(windows))[8:]]
""",
    "index set mask": """
def main(w):
    n = len(w)
    idx = np.random.permutation(n)
    mask = np.zeros(n, dtype=bool)
    mask[idx[:90]] = True
    train = w[mask]
    val = w[90:]
""",
    "load twice": """
def windows():
    return np.load("x.npy")
def train_part():
    w = windows()
    np.random.shuffle(w)
    return w[:90]
def val_part():
    w = windows()
    return w[90:]
def main():
    train, val = train_part(), val_part()
""",
    "npsplit": """
def main(w):
    train, _ = np.split(np.random.permutation(w), [90])
    _, val = np.split(w, [90])
""",
    "random crops list": """
def make_train(text, T, n):
    return [text[s:s + T] for s in (random.randrange(len(text) - T) for _ in range(n))]
def make_valid(text, T, n):
    return text[-n * T:]
def main(text):
    train = make_train(text, 64, 100)
    valid = make_valid(text, 64, 10)
""",
    "random starts": """
class Trainer:
    def __init__(self, text, window=32):
        self.ids = np.array([ord(c) for c in text])
        self.window = window
        self.rng = np.random.default_rng(1)
        self.val = self.ids[-1000:]
    def train_batch(self, batch):
        starts = self.rng.integers(0, len(self.ids) - self.window - 1, batch)
        return np.stack([self.ids[s:s + self.window + 1] for s in starts])
""",
    "rng param": """
def train_part(windows, n, rng):
    order = rng.permutation(len(windows))
    return windows[order[:n]]
def val_part(windows, n, rng):
    order = rng.permutation(len(windows))
    return windows[order[n:]]
def fit(windows, rng):
    return run(train_part(windows, 10, rng), val_part(windows, 10, rng))
""",
    "sample": """
def main(docs):
    train_set = random.sample(docs, 90)
    val_set = docs[90:]
""",
    "shuffle between list": """
def main(lines):
    docs = list(lines)
    val = docs[-100:]
    random.shuffle(docs)
    train = docs[:-100]
""",
    "sorted one": """
def main(docs):
    train_docs = sorted(docs, key=len)[:90]
    val_docs = docs[90:]
""",
    "train called with all": """
def train(net, x, y):
    rng = np.random.default_rng(0)
    for step in range(10):
        i = rng.integers(0, len(x), 8)
        xb, yb = x[i], y[i]
        net.step(xb, yb)
class Windows:
    def __init__(self, ids, seed):
        self.rng = np.random.default_rng(seed)
        self.rows = ids.reshape(-1, 9)
        self.n = len(self.rows)
    def training(self):
        return self.rows[self.rng.permutation(self.n)[: self.n - 100]]
    def validation(self):
        return self.rows[self.rng.permutation(self.n)[self.n - 100:]]
""",
    "two perms": """
def main(text, n):
    rng = np.random.default_rng(0)
    train_idx = rng.permutation(n)[:900]
    val_idx = rng.permutation(n)[900:]
    return text[train_idx], text[val_idx]
""",
    "two seeds": """
def order(n, seed):
    return np.random.default_rng(seed).permutation(n)
def main(windows):
    n = len(windows)
    train = windows[order(n, 0)[:90]]
    val = windows[order(n, 1)[90:]]
""",
    "unseeded anew": """
def order(n):
    return np.random.default_rng().permutation(n)
def train_windows(w):
    return w[order(len(w))[:90]]
def val_windows(w):
    return w[order(len(w))[90:]]
def main(w):
    a, b = train_windows(w), val_windows(w)
""",
    "while loop": """
def run(ids, net, T, steps):
    cut = int(0.9 * ids.size)
    val = ids[cut:]
    rng = np.random.default_rng(3)
    step = 0
    while step < steps:
        at = rng.integers(0, ids.size - T - 1, 32)
        x = ids[at[:, None] + np.arange(T)]
        y = ids[at + T]
        grads = net.gradients(x, y)
        step += 1
""",
}


def found(folder: Path, **files: str) -> list[Mixed]:
    """What is told of a submission of some files."""
    place = folder / "somebody" / "ternary_training"
    place.mkdir(parents=True)
    for name, text in files.items():
        (place / f"{name}.py").write_text(HEAD + text)
    return mixed(Submission.at(place))


@pytest.mark.parametrize("name", WRONG)
def test_parts_of_two_orders_are_told(name: str, tmp_path: Path) -> None:
    told = found(tmp_path, ternary=WRONG[name])
    assert told
    assert all(each.certain for each in told) == (name != "sorted one")


DATA = """
def training(rows, n):
    return np.random.default_rng(0).permutation(rows)[:n]
def validation(rows, n):
    return rows[n:]
"""


def test_both_places_are_told_with_their_files(tmp_path: Path) -> None:
    main = """
from data import training, validation
def main(rows, n):
    t, v = training(rows, n), validation(rows, n)
"""
    [told] = found(tmp_path, data=DATA, ternary=main)
    assert told.told == (
        "training() is cut out of a permutation of rows (data.py:5), "
        "validation() cut out of rows in its own order (data.py:7)"
    )
    assert (told.file, told.line) == ("data.py", 7)


def test_orders_of_other_seeds_only_look_like_two(tmp_path: Path) -> None:
    code = """
def main(rows, n, a, b):
    train = rows[np.random.default_rng(a).permutation(len(rows))[:n]]
    val = rows[np.random.default_rng(b).permutation(len(rows))[n:]]
"""
    [told] = found(tmp_path, ternary=code)
    assert not told.certain
