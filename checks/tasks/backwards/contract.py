"""What the task asks for: a layer norm's forward with a cache, and its backward."""

from __future__ import annotations

from typing import Any

import numpy as np

from judge_tui.checks.contract import AVOIDED, Contract, Param, Return, Role, Sample
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.backwards.reference import Batch, gradients
from judge_tui.checks.tasks.backwards.timing import TIMING

__all__ = ["CONTRACT"]

_X = (
    "inp", "input", "inputs", "x_in", "X", "hidden_states", "hidden", "data", "a", "h", "activations",
)  # fmt: skip
_GAMMA = (
    "weight", "scale", "g", "w", "gain", "gammas", "ln_weight", "ln_gamma", "scaler",
)  # fmt: skip
_BETA = (
    "bias", "shift", "b", "offset", "betas", "ln_bias", "ln_beta", "intercept",
)  # fmt: skip
_EPS = (
    "epsilon", "e", "eps_", "variance_epsilon", "layer_norm_eps", "norm_eps",
)  # fmt: skip
_WIDTH = (
    "dim", "d_model", "normalized_shape", "norm_shape", "features", "num_features", "n_features",
    "feature_dim", "hidden_size", "hidden_dim", "hidden", "embed_dim", "embedding_dim", "n_embd", "size",
    "width", "ndim", "normalized_dim", "channels", "n",
)  # fmt: skip
_DY = (
    "dout", "d_out", "grad_output", "grad_out", "output_grad", "upstream_grad", "upstream", "grad_y",
    "grad", "gy", "dl_dy", "dldy", "dloss_dy", "delta", "grad_outputs", "d_y", "g_out", "gout", "dz",
    "doutput", "upstream_gradient", "y_bar", "ct", "cotangent",
)  # fmt: skip
_CACHE = (
    "ctx", "context", "saved", "saved_tensors", "state", "memo", "stored", "intermediates", "tape",
    "residuals", "forward_cache", "fwd_cache", "aux", "saved_values", "store", "ln_cache", "cached", "c",
    "memory", "caches", "res",
)  # fmt: skip
_DX = (
    "grad_x", "grad_input", "dinput", "gx", "dl_dx", "dldx", "x_grad", "input_grad", "d_input",
    "grads_x", "dinp", "x_bar",
)  # fmt: skip
_DGAMMA = (
    "grad_gamma", "dweight", "grad_weight", "ggamma", "dl_dgamma", "dldgamma", "gamma_grad",
    "weight_grad", "dg", "dw", "dscale", "grad_scale", "grads_gamma", "grads_weight", "grads_dgamma",
    "grad_g", "dgain", "d_weight", "gamma_bar", "dscaler",
)  # fmt: skip
_DBETA = (
    "grad_beta", "dbias", "grad_bias", "gbeta", "dl_dbeta", "dldbeta", "beta_grad", "bias_grad", "db",
    "dshift", "grad_shift", "grads_beta", "grads_bias", "grads_dbeta", "grad_b", "doffset", "d_bias",
    "beta_bar", "dintercept",
)  # fmt: skip
#: Layers and parts of another kind, that stand beside a layer norm in any library.
_OTHERS = (
    r"rms", r"batch_?norm", r"group_?norm", r"instance_?norm", r"weight_?norm", r"spectral", r"dense",
    r"fully_?connected", r"linear", r"affine_?layer", r"conv", r"embedding", r"attention", r"relu", r"gelu",
    r"sigmoid", r"tanh", r"soft_?max", r"activation", r"drop_?out", r"pool", r"recurrent", r"\brnn", r"lstm",
    r"\bgru", r"\bmlp", r"feed_?forward", r"residual_?block", r"transformer", r"optimi[sz]er", r"entropy",
    r"loss",
)  # fmt: skip
_AVOID = (*AVOIDED, *(rf"^(?!.*(layer_?norm|\bln)).*{other}" for other in _OTHERS))


def _sample(rng: np.random.Generator) -> Sample:
    return _drawn(rng, 2, 3, 5)


def _sized(rng: np.random.Generator, sizes: Sizes) -> Sample:
    return _drawn(rng, *sizes.shape((2, 4), (3, 12), (6, 90)))


def _drawn(rng: np.random.Generator, B: int, T: int, D: int) -> Sample:
    inputs: dict[str, Any] = {
        "x": rng.standard_normal((B, T, D)),
        "gamma": rng.uniform(0.5, 2.0, D) * rng.choice([-1.0, 1.0], D),
        "beta": rng.standard_normal(D),
        "eps": 1e-5,
        "D": D,
        "dy": rng.standard_normal((B, T, D)),
    }
    truth = gradients(Batch(inputs["x"], inputs["gamma"], inputs["beta"], inputs["eps"], inputs["dy"]))
    shapes = {"y": (B, T, D), "dx": (B, T, D), "dgamma": (D,), "dbeta": (D,)}
    return Sample(inputs, shapes, {"dgamma": truth.dgamma, "dbeta": truth.dbeta})


_FORWARD = Role(
    "forward",
    (
        Param(
            "x", aliases=("inp", "input", "inputs", "x_in", "X", "hidden_states", "hidden", "data", "a", "h")
        ),
        Param("gamma", aliases=_GAMMA),
        Param("beta", aliases=_BETA),
        Param("eps", "float", _EPS, required=False),
        Param("D", "int", _WIDTH, required=False),
    ),
    (
        Return("y", aliases=("out", "output", "outputs", "y_out", "normed", "result", "ln_out")),
        Return("cache", "handle", _CACHE),
        Return("layer", "self", required=False),
    ),
    (
        r"(layer_?norm|\bln).*(forward|fwd)",
        r"(forward|fwd).*(layer_?norm|\bln)",
        r"forward|fwd",
        r"layer_?norm|^ln$|^norm$|^normalize$",
        r"^apply$|^call$|^__call__$",
    ),
    avoid=_AVOID,
    sure=3,
)
_BACKWARD = Role(
    "backward",
    (
        Param("dy", aliases=_DY),
        Param("cache", "handle", _CACHE),
        Param("layer", "handle", ("layer", "ln", "norm", "module"), required=False),
        Param("gamma", aliases=_GAMMA, required=False),
        Param("x", aliases=("inp", "input", "inputs"), required=False),
        Param("eps", "float", _EPS, required=False),
        Param("D", "int", _WIDTH, required=False),
    ),
    (
        Return("dx", aliases=_DX),
        Return("dgamma", aliases=_DGAMMA, loose=True),
        Return("dbeta", aliases=_DBETA, loose=True),
    ),
    (
        r"(layer_?norm|\bln).*(backward|bwd|grad|vjp)",
        r"(backward|bwd|grad|vjp).*(layer_?norm|\bln)",
        r"backward|bwd",
        r"grad|vjp|pullback",
    ),
    avoid=_AVOID,
    sure=3,
)

CONTRACT = Contract(
    (_FORWARD, _BACKWARD),
    _sample,
    "forward(x (B, T, D), gamma, beta (D,), eps) → (y, cache); backward(dy, cache) → (dx, dgamma, dbeta).",
    layouts=("merged",),
    timing=TIMING,
    sized=_sized,
)
