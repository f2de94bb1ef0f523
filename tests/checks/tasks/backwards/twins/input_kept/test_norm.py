import numpy as np
import pytest
from gradcheck import check
from norm import LayerNorm


@pytest.fixture
def rng():
    return np.random.default_rng(42)


@pytest.mark.parametrize("shape", [(1, 1, 4), (2, 3, 7), (4, 1, 32)])
def test_gradients(shape):
    assert max(check(shape).values()) < 1e-5


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_shift_invariance(rng, offset):
    x = rng.normal(size=(2, 3, 64))
    w, b = np.ones(64), np.zeros(64)
    a, _ = LayerNorm.forward(x, w, b)
    c, _ = LayerNorm.forward(x + offset, w, b)
    np.testing.assert_allclose(a, c, atol=1e-6)


def test_zero_variance(rng):
    y, s = LayerNorm.forward(np.zeros((1, 2, 8)), np.ones(8), np.full(8, 3.0))
    assert np.all(y == 3.0)
