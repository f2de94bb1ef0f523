"""Edge cases and consistency checks for layer_norm_backward.py.

Run with pytest, or directly: python test_layer_norm.py
"""

import numpy as np

from layer_norm_backward import (
    chain_rule_gradients,
    layer_norm_backward,
    layer_norm_forward,
    make_inputs,
)


def run(x, gamma, beta, dy, eps=1e-5):
    y, cache = layer_norm_forward(x, gamma, beta, eps)
    return y, cache, layer_norm_backward(dy, cache)


# --- Edge cases ---------------------------------------------------------------

def test_large_mean_tiny_variance():
    """Mean 1e8, standard deviation 1e-2: a naive variance has no digit left."""
    x, gamma, beta, dy = make_inputs(2, 4, 64, seed=10)
    x = 1e8 + 1e-2 * x
    small = x - 1e8                     # exact in float64: the same rows, centered
    y, _, grads = run(x, gamma, beta, dy)
    y_ref, _, grads_ref = run(small, gamma, beta, dy)
    np.testing.assert_allclose(y, y_ref, rtol=0, atol=1e-5)
    for got, want in zip(grads, grads_ref):
        assert np.all(np.isfinite(got))
        assert np.linalg.norm(got - want) < 1e-5 * np.linalg.norm(want)


def test_zero_input():
    """x = 0: the variance is 0, eps alone keeps the result finite."""
    _, gamma, beta, dy = make_inputs(2, 4, 16, seed=11)
    y, cache, (dx, dgamma, dbeta) = run(np.zeros((2, 4, 16)), gamma, beta, dy)
    np.testing.assert_array_equal(y, np.broadcast_to(beta, y.shape))
    np.testing.assert_array_equal(dgamma, np.zeros(16))
    np.testing.assert_allclose(dbeta, dy.sum(axis=(0, 1)))
    g = gamma * dy                      # x_hat = 0, so only mean(g) is removed
    want = (g - g.mean(axis=-1, keepdims=True)) / np.sqrt(1e-5)
    np.testing.assert_allclose(dx, want, atol=1e-10)


def test_large_d():
    """Transformer scale, (2, 128, 1024), against the step-by-step chain rule."""
    x, gamma, beta, dy = make_inputs(2, 128, 1024, seed=12)
    _, _, grads = run(x, gamma, beta, dy)
    for got, want in zip(grads, chain_rule_gradients(dy, x, gamma)):
        assert np.max(np.abs(got - want)) < 1e-10
    assert np.max(np.abs(grads[0].sum(axis=-1))) < 1e-10


def test_d_equals_one():
    """D = 1: x_hat is 0 whatever x is, so y = beta and dx = 0."""
    x, gamma, beta, dy = make_inputs(3, 5, 1, seed=13)
    y, _, (dx, dgamma, dbeta) = run(x, gamma, beta, dy)
    np.testing.assert_array_equal(y, np.broadcast_to(beta, y.shape))
    np.testing.assert_array_equal(dx, np.zeros_like(x))
    np.testing.assert_array_equal(dgamma, np.zeros(1))
    np.testing.assert_allclose(dbeta, dy.sum(axis=(0, 1)))


def test_gradient_norm():
    """Removing two projections cannot lengthen g: |dx| <= std_inv * |gamma * dy|."""
    for scale in (1e-3, 1.0, 1e3):
        x, gamma, beta, dy = make_inputs(4, 8, 128, seed=14)
        _, cache, (dx, _, _) = run(scale * x, gamma, beta, dy)
        bound = cache["std_inv"] * np.linalg.norm(gamma * dy, axis=-1)
        norm = np.linalg.norm(dx, axis=-1)
        assert np.all(norm <= bound * (1 + 1e-12)) and np.all(norm > 0.5 * bound)


# --- Consistency --------------------------------------------------------------

def test_backward_of_backward():
    """For gamma = 1 backward is std_inv times a projection.

    Applying it to its own result must only multiply by std_inv once more, and
    its Jacobian is symmetric: <v, J u> = <u, J v>.
    """
    x, _, beta, dy = make_inputs(4, 8, 64, seed=15)
    _, cache, (dx, _, _) = run(x, np.ones(64), beta, dy, eps=1e-12)
    twice, _, _ = layer_norm_backward(dx, cache)
    np.testing.assert_allclose(twice, cache["std_inv"][..., None] * dx, atol=1e-10)
    u = np.random.default_rng(16).normal(size=dy.shape)
    ju, _, _ = layer_norm_backward(u, cache)
    np.testing.assert_allclose(np.sum(dy * ju), np.sum(u * dx), rtol=1e-10)

    # Backward is linear in dy, and leaves its cache as it found it.
    mixed, _, _ = layer_norm_backward(2.0 * dy - 3.0 * u, cache)
    np.testing.assert_allclose(mixed, 2.0 * dx - 3.0 * ju, atol=1e-10)
    again, _, _ = layer_norm_backward(dy, cache)
    np.testing.assert_array_equal(again, dx)


def test_memory_efficiency():
    """The cache holds N + B*T + D values and the scalar D, nothing else."""
    B, T, D = 4, 16, 256
    _, cache, _ = run(*make_inputs(B, T, D, seed=17))
    assert cache["x_hat"].shape == (B, T, D) and cache["std_inv"].shape == (B, T)
    assert set(cache) == {"x_hat", "std_inv", "gamma", "D"} and cache["D"] == D
    held = sum(v.nbytes for v in cache.values() if isinstance(v, np.ndarray))
    assert held == 8 * (B * T * D + B * T + D), f"{held} bytes held"


if __name__ == "__main__":
    for name, test in [(n, f) for n, f in globals().items() if n.startswith("test_")]:
        test()
        print(f"{name:<32} ✓ PASS")
