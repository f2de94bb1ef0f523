"""Parts of a split that are cut out of one order are left alone, however they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.splitting.finding import Mixed, mixed

HEAD = "import numpy as np\nimport random\n"
#: What is right → code.
RIGHT = {
    "an array whose views follow": """
def main(w, n):
    order = np.arange(len(w))
    val_idx = order[n:]
    random.shuffle(order)
    train_idx = order[:n]
    return w[train_idx], w[val_idx]
""",
    "a prompt of the whole text": """
def main(ids, n, T):
    train, val = ids[:n], ids[n:]
    at = np.random.randint(0, len(ids) - T)
    test_prompt = ids[at:at + T]
""",
    "shuffled if asked": """
def split(docs, n, shuffle):
    if shuffle:
        random.shuffle(docs)
    train, val = docs[:n], docs[n:]
    return train, val
""",
    "membership": """
def main(docs, n):
    order = list(range(len(docs)))
    random.shuffle(order)
    val_ids = set(order[:n])
    train, val = [], []
    for i, doc in enumerate(docs):
        if i in val_ids:
            val.append(doc)
        else:
            train.append(doc)
    test = [docs[i] for i in sorted(val_ids)]
""",
    "array shuffled in place": """
def main():
    order = np.arange(100)
    val_idx = order[90:]
    train_idx = order[:90]
    np.random.shuffle(order)
    w = np.load("x.npy")
    train, val = w[train_idx], w[val_idx]
""",
    "bool complement": """
def main(w):
    n = len(w)
    mask = np.zeros(n, bool)
    mask[np.random.permutation(n)[:10]] = True
    val, train = w[mask], w[~mask]
""",
    "branches": """
def main(w, cfg):
    n = len(w)
    if cfg.random:
        p = np.random.permutation(n)
        train, val = w[p[:9]], w[p[9:]]
    else:
        train, val = w[:9], w[9:]
    if cfg.other:
        train = np.random.permutation(w[:9])
        val = w[9:]
""",
    "by split arg": """
DATA = np.arange(100)
N = 90
def get_batch(split, rng, T=4):
    data = DATA[:N] if split == "train" else DATA[N:]
    i = rng.integers(0, len(data) - T, 8)
    return np.stack([data[k:k + T] for k in i])
def main(net):
    rng = np.random.default_rng(1)
    for s in range(3):
        train = get_batch("train", rng)
        net.step(train)
    val = get_batch("val", rng)
""",
    "class perm": """
class Corpus:
    def __init__(self, path, seed):
        text = open(path).read()
        self.ids = np.array([ord(c) for c in text])
        rng = np.random.default_rng(seed)
        self.windows = self.ids[: len(self.ids) // 9 * 9].reshape(-1, 9)
        self.order = rng.permutation(len(self.windows))
        self.cut = int(0.9 * len(self.order))
        self.rng = rng
    @property
    def train(self):
        return self.windows[self.order[:self.cut]]
    def val(self):
        return self.windows[self.order[self.cut:]]
    def train_epoch(self):
        idx = self.order[:self.cut].copy()
        self.rng.shuffle(idx)
        for s in range(0, len(idx), 8):
            yield self.windows[idx[s:s+8]]
    def train_batches(self):
        for i in self.rng.permutation(self.order[:self.cut]):
            batch = self.windows[i]
            self.train_step(batch)
""",
    "del held": """
def main(docs):
    docs = list(docs)
    held_out = docs[-10:]
    del docs[-10:]
    random.shuffle(docs)
    train = docs[:50]
""",
    "fixed later": """
def main(w, cfg):
    n = len(w)
    p = np.random.permutation(n)
    train_idx = p[:9]
    val_idx = np.arange(n)[9:]
    if cfg.verbose:
        print("x")
    train_idx = [i for i in train_idx if i not in val_idx]
    return w[train_idx], w[val_idx]
""",
    "held first then shuffle rest": """
def main(docs):
    docs = list(docs)
    held = docs[-10:]
    docs = docs[:-10]
    random.shuffle(docs)
    train = docs[:50]
    spare = docs[50:]
    test = held
""",
    "lambda and dict": """
def main(w):
    split = {"train": w[:90], "val": w[90:]}
    get = lambda s: split[s][np.random.randint(0, len(split[s]), 4)]
    train, val = get("train"), get("val")
    splits = {k: v[np.random.permutation(len(v))] for k, v in split.items()}
""",
    "perm of the training number": """
def main(w):
    n_train = 90
    order = np.random.permutation(n_train)
    train = w[order]
    val = w[n_train:]
    few_train = w[order[:10]]
""",
    "perm then cut": """
def main(windows):
    windows = np.random.permutation(windows)
    train, val = windows[:90], windows[90:]
""",
    "pop held": """
def main(docs):
    docs = list(docs)
    val = [docs.pop() for _ in range(10)]
    val2 = docs[:5]
    docs = docs[5:]
    random.shuffle(docs)
    train = docs[:50]
""",
    "prompt of the whole": """
def main(ids, T, net):
    train, val = ids[:900], ids[900:]
    rng = np.random.default_rng(0)
    for step in range(5):
        s = rng.integers(0, len(train) - T)
        x = train[s:s + T]
        net.train_step(x)
        if step % 2 == 0:
            s = rng.integers(0, len(ids) - T)
            piece = ids[s:s + T]
            print(net.generate(piece))
""",
    "same var n": """
def main(net, w, T):
    n = int(.9 * len(w))
    val = w[n:]
    for epoch in range(3):
        ix = np.random.randint(0, n - T, size=8)
        x = np.stack([w[i:i+T] for i in ix])
        y = np.stack([w[i+1:i+T+1] for i in ix])
        net.train_step(x, y)
    train_x = w[np.random.permutation(n)[:50]]
""",
    "setdiff": """
def main(w):
    n = len(w)
    val_idx = np.random.choice(n, 10, replace=False)
    train_idx = np.setdiff1d(np.arange(n), val_idx)
    train, val = w[train_idx], w[val_idx]
    rest = np.delete(w, val_idx, axis=0)
    train2 = rest[np.random.permutation(len(rest))[:20]]
    train3 = [i for i in range(n) if i not in set(val_idx)]
""",
    "shuffled by callee": """
def head(docs, n):
    random.shuffle(docs)
    return docs[:n]
def main(path, n):
    docs = open(path).read().split("\\n")
    train = head(docs, n)
    val = docs[n:]
""",
    "starts below the cut": """
def main(ids, T, net):
    n_val = 1000
    val = ids[-n_val:]
    rng = np.random.default_rng(0)
    for step in range(5):
        s = rng.integers(0, len(ids) - n_val - T, 8)
        x = ids[s[:, None] + np.arange(T)]
        net.train_step(x)
    n_train = len(ids) - n_val
    for step in range(5):
        s = rng.integers(0, n_train - T, 8)
        x = ids[s[:, None] + np.arange(T)]
        net.train_step(x)
""",
    "starts of train": """
def get_batch(data, T, rng):
    i = rng.integers(0, len(data) - T - 1, 8)
    return data[i[:, None] + np.arange(T)], data[i[:, None] + np.arange(T) + 1]
def main(ids):
    rng = np.random.default_rng(0)
    n = int(len(ids) * .9)
    train_ids, val_ids = ids[:n], ids[n:]
    for step in range(10):
        x, y = get_batch(train_ids, 16, rng)
        train_step(x, y)
        vx, vy = get_batch(val_ids, 16, rng)
        test_step(vx, vy)
""",
    "stratified": """
def main(docs, labels):
    train_idx, val_idx = [], []
    for c in set(labels):
        idx = np.flatnonzero(labels == c)
        np.random.shuffle(idx)
        k = int(.9 * len(idx))
        train_idx.extend(idx[:k])
        val_idx.extend(idx[k:])
    train, val = docs[train_idx], docs[val_idx]
""",
    "synthetic": """
def make(rng, n, words):
    return [words[i] for i in rng.integers(0, len(words), n)]
def main():
    rng = np.random.default_rng(0)
    words = ["a", "b", "c", "d"]
    train_text = make(rng, 1000, words)
    val_text = make(rng, 100, words)
    train_tokens = rng.integers(0, 28, 1000)
    val_tokens = rng.integers(0, 28, 100)
    train_sentences = [rng.choice(words, 3) for _ in range(9)]
    val_sentences = [rng.choice(words, 3) for _ in range(9)]
    train_s = [" ".join(random.sample(words, 3)) for _ in range(9)]
    val_s = [" ".join(random.sample(words, 3)) for _ in range(9)]
    train_noise = rng.permutation(50)[:10]
    val_noise = rng.permutation(50)[:10]
""",
    "train alone": """
def main(windows, rng):
    train = rng.permutation(windows[:90])
    val = windows[90:]
    for e in range(3):
        rng.shuffle(train)
        for b in range(0, 90, 10):
            xb = train[b:b+10]
            step(xb)
""",
    "two texts": """
def windows(text, T):
    return np.array([text[i:i+T] for i in range(0, len(text) - T, T)])
def main():
    a = open("a.txt").read()
    b = open("b.txt").read()
    train = windows(a, 9)
    train = train[np.random.permutation(len(train))[:100]]
    val = windows(b, 9)[:100]
""",
    "weights and steps": """
def train(net, x, y):
    rng = np.random.default_rng(0)
    for step in range(10):
        i = rng.integers(0, len(x), 8)
        xb, yb = x[i], y[i]
        net.step(xb, yb)
def test_shapes():
    x = np.zeros((10, 3)); test_x = x[:2]; train_x = x[np.random.permutation(len(x))[:5]]
def main(x, y, net):
    train(net, x[:90], y[:90])
    test_x, test_y = x[90:], y[90:]
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
def test_parts_of_one_order_are_left_alone(name: str, tmp_path: Path) -> None:
    assert not found(tmp_path, ternary=RIGHT[name])


@pytest.mark.parametrize(
    "code",
    [
        "def main(n):\n" + "    n = n + n\n" * 400,
        "def main(x):\n" + "    x = np.random.permutation(x)\n" * 400,
        "".join(f"def f{i}(x):\n    return f{i + 1}(f{i + 1}(x))\n" for i in range(120)),
        "x = " + "-" * 500 + "1\n",
        "while True:\n    pass\n",
        "def f(x):\n    return f(x)\n",
        "class A:\n    def __init__(self, *x, **y): self.a, *self.b = x[0](*x, **y)\n",
    ],
    ids=["doubled", "permuted", "called", "negated", "endless", "recursive", "starred"],
)
def test_following_a_source_comes_to_an_end(code: str, tmp_path: Path) -> None:
    assert not found(tmp_path, ternary=code)
