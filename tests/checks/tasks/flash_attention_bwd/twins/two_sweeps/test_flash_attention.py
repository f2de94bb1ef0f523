import unittest
import numpy as np
from flash_attention import flash_attention_bwd, flash_attention_fwd


def dense(Q, K, V, dO, causal):
    n, d = Q.shape[-2:]
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(d)
    if causal:
        S = np.where(np.tri(n, dtype=bool), S, -np.inf)
    P = np.exp(S - S.max(-1, keepdims=True))
    P /= P.sum(-1, keepdims=True)
    dP = dO @ V.swapaxes(-1, -2)
    dS = P * (dP - (dP * P).sum(-1, keepdims=True))
    return P @ V, dS @ K / np.sqrt(d), dS.swapaxes(-1, -2) @ Q / np.sqrt(d), P.swapaxes(-1, -2) @ dO


class TestFlash(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(11)

    def compare(self, n, tile, causal):
        Q, K, V, dO = self.rng.normal(size=(4, 2, 2, n, 8))
        O, cache = flash_attention_fwd(Q, K, V, tile, causal)
        got = (O, *flash_attention_bwd(dO, cache, tile, causal))
        for g, w in zip(got, dense(Q, K, V, dO, causal)):
            np.testing.assert_allclose(g, w, atol=1e-11)

    def test_shapes(self):
        for n, tile in ((1, 4), (9, 4), (16, 4), (17, 16), (5, 64)):
            for causal in (True, False):
                with self.subTest(n=n, tile=tile, causal=causal):
                    self.compare(n, tile, causal)


if __name__ == "__main__":
    unittest.main()
