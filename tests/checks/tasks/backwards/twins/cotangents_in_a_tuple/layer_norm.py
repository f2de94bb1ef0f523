# right: pure functions over a tuple of parameters; a named tuple of their cotangents comes before dx
"""Pure-function layer norm: ``apply`` and ``pullback``.

The module follows the convention of functional frameworks: parameters travel
in a tuple, nothing is stored on objects, and the forward pass returns the
*residual* that the backward pass consumes.

    params         = LNParams(gamma, beta, eps)
    y, residual    = apply(params, x)
    grads, dx      = pullback(params, residual, dy)    # grads.gamma, grads.beta

Derivation of dx
----------------
Per row, ``x_hat = P x / sigma`` where ``P = I - 11^T/D`` removes the mean and
``sigma = sqrt(|P x|^2 / D + eps)``.  Differentiating,

    d x_hat = (P dx - x_hat <x_hat, dx> / D) / sigma,

(the mean of ``x_hat`` is zero, hence <x_hat, P dx> = <x_hat, dx>).  That linear
map is symmetric, so its transpose applied to ``g = gamma * dy`` is the same
expression with ``g`` in the place of ``dx``:

    dx = (g - mean(g) - x_hat * mean(x_hat * g)) * inv_std.

``eps`` needs no special treatment: it is in ``sigma`` already.

A row is rescaled by its largest deviation before it is squared.  This costs one
extra reduction and lets rows with entries like 1e30 in float32 go through
without overflow in the variance.
"""

from typing import Tuple

import numpy as np

from ln_types import LNParamGrads, LNParams, LNResidual


def _row_statistics(x: np.ndarray, eps: float) -> Tuple[np.ndarray, np.ndarray]:
    """Return (x_hat, inv_std) over the last axis; x must be a float array."""
    # Shift by the first element: exact zero deviations for constant rows and
    # a small operand for the sum of the mean, however large the offset is.
    shifted = x - x[..., :1]
    centred = shifted - shifted.mean(axis=-1, keepdims=True)
    # A second centring removes the rounding error of the first.
    centred -= centred.mean(axis=-1, keepdims=True)

    peak = np.abs(centred).max(axis=-1, keepdims=True)
    peak = np.where(peak > 1.0, peak, 1.0).astype(x.dtype)
    scaled = centred / peak                                  # |scaled| bounded
    var_scaled = np.einsum("...d,...d->...", scaled, scaled)[..., None] / x.shape[-1]
    # sigma = peak * sqrt(var_scaled + eps / peak^2), with eps / peak^2 formed
    # by two divisions so that peak^2 itself is never computed.
    sigma_scaled = np.sqrt(var_scaled + (eps / peak) / peak)
    x_hat = scaled / sigma_scaled
    inv_std = 1.0 / sigma_scaled / peak
    return x_hat, inv_std[..., 0]


def _working_dtype(*arrays: np.ndarray) -> np.dtype:
    """float64 if anything is float64 or integer, otherwise float32."""
    return np.result_type(np.float32, *arrays)


def apply(params: LNParams, x: np.ndarray) -> Tuple[np.ndarray, LNResidual]:
    """Forward pass.

    Args:
        params: gamma (D,), beta (D,) and eps.
        x: (B, T, D); any number of leading axes is accepted.

    Returns:
        y with the shape of x, and the residual for :func:`pullback`.
    """
    x = np.asarray(x)
    gamma, beta = np.asarray(params.gamma), np.asarray(params.beta)
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError(
            f"parameters {gamma.shape}/{beta.shape} do not fit inputs {x.shape}"
        )
    work = _working_dtype(x)
    x_hat, inv_std = _row_statistics(x.astype(work, copy=False), params.eps)
    y = x_hat * gamma + beta
    out_dtype = x.dtype if np.issubdtype(x.dtype, np.floating) else work
    return y.astype(out_dtype, copy=False), LNResidual(x_hat, inv_std)


def pullback(
    params: LNParams, residual: LNResidual, dy: np.ndarray
) -> Tuple[LNParamGrads, np.ndarray]:
    """Backward pass: cotangent of y -> (cotangents of the parameters, of x).

    Args:
        params: the same parameters that :func:`apply` was given.
        residual: second result of :func:`apply`.
        dy: (B, T, D) gradient of the loss with respect to y.

    Returns:
        ``(LNParamGrads(gamma, beta), dx)``.
    """
    x_hat, inv_std = residual
    dy = np.asarray(dy)
    if dy.shape != x_hat.shape:
        raise ValueError(f"dy has shape {dy.shape}, forward saw {x_hat.shape}")
    dim = x_hat.shape[-1]
    work = np.result_type(x_hat, dy)

    flat_dy = dy.reshape(-1, dim)
    flat_hat = x_hat.reshape(-1, dim)

    # Sums over B*T rows are accumulated in double precision: with many rows a
    # float32 running sum along axis 0 loses digits.
    grad_beta = flat_dy.sum(axis=0, dtype=np.float64)
    grad_gamma = np.multiply(flat_dy, flat_hat, dtype=work).sum(axis=0, dtype=np.float64)

    g = np.multiply(flat_dy, np.asarray(params.gamma))
    along_one = g.mean(axis=1, keepdims=True)
    along_hat = np.einsum("rd,rd->r", g, flat_hat)[:, None] / dim
    dx = (g - along_one - flat_hat * along_hat) * inv_std.reshape(-1, 1)

    grads = LNParamGrads(grad_gamma.astype(work), grad_beta.astype(work))
    return grads, dx.reshape(dy.shape).astype(work, copy=False)
