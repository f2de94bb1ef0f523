"""The target machine (a two-layer, two-head attention stack) and the test bench."""
import numpy as np

from treec import Verifier, build_tree_mask


class Machine:
    def __init__(self, vocab=9, width=16, seed=1):
        rng = np.random.default_rng(seed)
        self.rom = rng.standard_normal((vocab, width)).astype(np.float32)
        self.clock = rng.standard_normal((512, width)).astype(np.float32)
        self.out = rng.standard_normal((width, vocab)).astype(np.float32)
        self.stages = rng.standard_normal((2, 4, width, width)).astype(np.float32) / np.float32(3)

    def __call__(self, ids, mask, positions):
        x = self.rom[ids] + self.clock[positions]
        for q, k, v, o in self.stages:
            h = x / np.linalg.norm(x, axis=-1, keepdims=True) * np.float32(4)
            heads = []
            for sl in (slice(0, 8), slice(8, 16)):
                s = (h @ q[:, sl]) @ (h @ k[:, sl]).T / np.float32(np.sqrt(8))
                s = np.where(mask, s, np.float32(-1e30))
                e = np.exp(s - s.max(1, keepdims=True)) * mask
                heads.append(e / e.sum(1, keepdims=True) @ (h @ v[:, sl]))
            x = x + np.concatenate(heads, 1) @ o
        return x @ self.out

    def greedy(self, ids, n):
        ids = list(ids)
        for _ in range(n):
            m = len(ids)
            ids.append(int(self(np.array(ids), np.tri(m, dtype=bool), np.arange(m))[-1].argmax()))
        return ids


def test_mask_of_a_shuffled_tree():
    assert build_tree_mask([1, -1, 1, 0], 1).astype(int).tolist() == [
        [1, 0, 0, 0, 0], [1, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 0], [1, 1, 1, 0, 1]]


def test_stream_is_greedy():
    for seed in range(6):
        target, rng = Machine(vocab=5, seed=seed), np.random.default_rng(seed)
        want, out = target.greedy([2, 0], 40), [2, 0]
        run = Verifier(target).verify_and_accept
        while len(out) < 30:
            n = int(rng.integers(0, 11))
            got = run(out, rng.integers(0, 5, n), [int(rng.integers(-1, i)) for i in range(n)])
            out += got.accepted + [got.new_token]
        assert out == want[:len(out)]


def test_own_chain_is_taken_whole():
    target = Machine()
    want = target.greedy([1, 2, 3], 9)
    got = Verifier(target).verify_and_accept([1, 2, 3], want[3:11], range(-1, 7))
    assert got.accepted == want[3:11] and got.new_token == want[11] and got.hit_leaf


def test_twins_share_their_children():
    target = Machine()
    a, b, c = target.greedy([4], 3)[1:]
    got = Verifier(target).verify_and_accept([4], [a, a, b], [-1, -1, 1])
    assert got.accepted == [a, b] and got.new_token == c and got.nodes == [0, 2]


if __name__ == "__main__":
    for name, f in sorted(globals().copy().items()):
        if name.startswith("test_"):
            f()
            print("pass", name)
