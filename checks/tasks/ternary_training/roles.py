"""The roles: a projection to three levels, a linear layer that uses it, and the layer's backward.

A weight is (out, in), or (in, out) where a layer says ``x @ W``; its input is (B, in), (B, T, in), or (in, B)
where it says ``W @ x``. The contract's own are the first of each; the others have names of their own
(``weight_t``, ``x3``, ``x_c``, …), so that a binding says which of them a submission takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Random
from judge_tui.checks.contract import Param, Return, Role, Sample
from judge_tui.checks.tasks.ternary_training.reading import agreement

__all__ = ["BACKWARD", "FORWARD", "GROUP", "PROJECT", "inputs_of", "sample", "shapes_of"]

Array = npt.NDArray[Any]

#: Weights that share one scale.
GROUP = 128

_WEIGHT = (
    "w", "weights", "kernel", "latent", "latent_weight", "latent_weights", "weight_latent", "w_latent",
    "latent_w", "master_weight", "weight_master", "w_master", "master", "shadow_weight", "w_shadow", "shadow",
    "w_fp", "w_fp32", "fp_weight", "weight_fp", "weight_fp32", "w_float", "weight_float", "float_weight",
    "w_full", "full_weight", "w_real", "w_raw", "theta", "w_lat", "latents", "matrix", "mat", "tensor",
    "w_master_fp32", "weight_full", "lw", "wl",
)  # fmt: skip
_BIAS = ("b", "biases", "offset", "offsets", "b_out", "lin_bias", "intercept")
_X = (
    "inp", "input", "inputs", "x_in", "data", "a", "h", "activations", "acts", "features", "hidden",
    "hidden_states", "act",
)  # fmt: skip
_GROUP_SIZE = (
    "group", "groups", "gs", "g", "block_size", "block", "group_width", "group_len", "chunk", "chunk_size",
    "qgroup", "q_group_size", "quant_group_size", "gsize", "group_dim", "per_group",
)  # fmt: skip
_IN = (
    "in_dim", "d_in", "n_in", "fan_in", "input_dim", "in_size", "input_size", "in_channels", "din", "nin",
    "in_feats", "num_inputs", "input_features", "n_inputs", "dim_in", "inputs_dim", "in_width", "width",
)  # fmt: skip
_OUT = (
    "out_dim", "d_out", "n_out", "fan_out", "output_dim", "out_size", "output_size", "out_channels",
    "dout_dim", "nout", "out_feats", "num_outputs", "output_features", "n_outputs", "dim_out",
    "out_width", "units", "out",
)  # fmt: skip
_DY = (
    "dout", "d_out", "grad_output", "grad_out", "output_grad", "upstream_grad", "upstream", "grad_y", "grad",
    "gy", "dl_dy", "dldy", "delta", "d_y", "g_out", "gout", "dz", "doutput", "g", "upstream_gradient",
)  # fmt: skip
_CACHE = (
    "ctx", "context", "saved", "saved_tensors", "state", "memo", "tape", "residuals", "forward_cache", "aux",
    "saved_values", "store", "cached", "c", "memory", "stash", "res",
)  # fmt: skip
_Y = ("out", "output", "outputs", "y_out", "result", "z", "logits", "ret")
_DX = ("grad_x", "grad_input", "dinput", "gx", "dl_dx", "x_grad", "input_grad", "d_input", "grad_inp", "dinp",
       "g_in", "gin", "d_x", "dinputs", "din", "grads_x", "grad_inputs")  # fmt: skip
_DWEIGHT = (
    "dw", "grad_w", "grad_weight", "gw", "weight_grad", "w_grad", "grads_w", "grads_weight", "grads_dw",
    "dl_dw", "dkernel", "d_weight", "d_w", "grad_weights", "dweights", "weights_grad", "grad_latent",
    "latent_grad", "d_latent", "dlatent", "dw_latent", "grad_w_latent", "g_w", "latent_weight_grad",
    "weight_latent_grad", "w_latent_grad", "gweight", "kernel_grad", "dtheta", "latent_weights_grad",
    "master_grad", "w_latent_gradient", "weight_gradient", "grad_kernel", "shadow_grad", "grad_shadow",
    "master_weight_grad", "shadow_weight_grad", "grad_master", "latent_w_grad", "grad", "gradient",
    *(name for w in ("weight", *_WEIGHT)
      for name in (f"d{w}", f"d_{w}", f"grad_{w}", f"grads_{w}", f"g_{w}", f"{w}_grad", f"{w}_gradient")),
)  # fmt: skip
_DBIAS = (
    "db", "grad_b", "grad_bias", "gb", "bias_grad", "b_grad", "grads_b", "grads_bias", "grads_db", "d_bias",
    "d_b", "dl_db", "grad_biases", "g_b", "gbias", "bias_gradient",
    *(name for b in ("offset", "offsets", "b_out", "lin_bias", "intercept")
      for name in (f"d{b}", f"d_{b}", f"grad_{b}", f"grads_{b}", f"{b}_grad")),
)  # fmt: skip
_GROUPED = Param("group_size", "int", _GROUP_SIZE, required=False)
#: Sizes in the order in which a constructor that names them otherwise is taken to want them.
_SIZES = (
    Param("in_features", "int", _IN, required=False),
    Param("out_features", "int", _OUT, required=False),
    _GROUPED,
    Param("seed", "int", ("rng_seed", "random_seed", "random_state"), required=False, spare=True),
    Param("rng", "rng", ("generator", "random", "rs", "prng", "gen"), required=False, spare=True),
)
_AVOID = (
    r"naive", r"numerical", r"reference", r"(?<![a-z])tests?(?![a-z])", r"(?<![a-z])check", r"benchmark",
    r"(?<![a-z])demo", r"verify", r"plot", r"(?<![a-z])main(?![a-z])", r"(?<![a-z])train(?!able)",
    r"(?<![a-z])eval", r"loss", r"embed", r"norm", r"softmax", r"optimi[sz]er", r"adam", r"sgd",
    r"gelu", r"relu", r"silu",    r"attention", r"export", r"finite_?diff", r"(?<![a-z])float_?linear",
)  # fmt: skip

PROJECT = Role(
    "project",
    (Param("weight", aliases=(*_WEIGHT, "x", *_X)), _GROUPED),
    (Return("projected", "data"),),
    (
        r"(ternary|ternari[sz]|trit|1_?58).*(proj|quant|weight|group|matrix)?",
        r"(proj|quant).*(ternary|group|weight)|(group|weight).*(proj|quant)",
        r"project|quanti[sz]e|absmean",
    ),
    (*_AVOID, r"de_?quant", r"unpack", r"pack", r"back(ward)?", r"bwd", r"grad", r"forward", r"fwd",
     r"linear", r"layer", r"activation", r"__init__", r"count", r"spars", r"stat", r"error", r"is_ternary"),
    required=False,
    sure=1,
    agrees=agreement,
)  # fmt: skip
FORWARD = Role(
    "forward",
    (
        Param("x", aliases=_X),
        Param("weight", aliases=_WEIGHT),
        Param("bias", aliases=_BIAS, required=False),
        *_SIZES,
    ),
    (
        Return("y", aliases=_Y),
        Return("cache", "handle", _CACHE, required=False),
        Return("layer", "self", required=False),
    ),
    (
        r"(ternary|trit|quant|bit|ste).*(forward|fwd)|(forward|fwd).*(ternary|trit|quant|bit|ste)",
        r"(ternary|trit|quant|bit|ste).*(linear|layer|matmul|dense)",
        r"forward|fwd",
        r"^(__call__|call|apply|linear|matmul|dense)$",
        r"linear|matmul|dense",
    ),
    (*_AVOID, r"back(ward)?", r"bwd", r"grad"),
)  # fmt: skip
BACKWARD = Role(
    "backward",
    (
        Param("dy", aliases=_DY),
        Param("cache", "handle", _CACHE, required=False),
        Param("layer", "handle", ("layer", "module", "lin", "linear"), required=False),
        Param("x", aliases=_X, required=False),
        Param("weight", aliases=_WEIGHT, required=False),
        Param("bias", aliases=_BIAS, required=False),
        *_SIZES,
    ),
    (
        Return("dx", aliases=_DX, required=False),
        Return("dweight", aliases=_DWEIGHT, loose=True),
        Return("dbias", aliases=_DBIAS, required=False, loose=True),
    ),
    (
        r"(ternary|trit|quant|bit|ste).*(backward|bwd|grad|vjp)",
        r"(backward|bwd|grad|vjp).*(ternary|trit|quant|bit|ste)",
        r"backward|bwd",
        r"grad|vjp|pullback|back_?prop|^back$",
    ),
    (*(word for word in _AVOID), r"zero_?grad", r"clip"),
)  # fmt: skip


def inputs_of(weight: Array, bias: Array, x: Array, dy: Array) -> dict[str, Any]:
    """What any role may be told, under every name.

    Args:
        weight: Latent weights (out, in).
        bias: (out,).
        x: (B, in).
        dy: (B, out).
    """
    out, width = weight.shape
    return {
        "weight": weight, "weight_t": np.ascontiguousarray(weight.T), "bias": bias,
        "x": x, "x3": x.reshape(1, *x.shape), "x_c": np.ascontiguousarray(x.T), "bias_c": bias.reshape(-1, 1),
        "dy": dy, "dy3": dy.reshape(1, *dy.shape), "dy_c": np.ascontiguousarray(dy.T),
        "group_size": GROUP, "in_features": width, "out_features": out, "seed": 0, "rng": Random(0),
    }  # fmt: skip


def shapes_of(rows: int, out: int, width: int) -> Mapping[str, tuple[int, ...]]:
    """Shape of every array that is given back, under every name."""
    return {
        "y": (rows, out), "y3": (1, rows, out), "y_c": (out, rows),
        "dx": (rows, width), "dx3": (1, rows, width), "dx_c": (width, rows),
        "dweight": (out, width), "dweight_t": (width, out), "dbias": (out,),
    }  # fmt: skip


def sample(rng: np.random.Generator) -> Sample:
    """A call of every role: an even width, so that a layer which refuses ragged groups is found too."""
    rows, out, width = 3, GROUP, 2 * GROUP
    arrays = (rng.standard_normal(shape) for shape in ((out, width), (out,), (rows, width), (rows, out)))
    return Sample(inputs_of(*arrays), shapes_of(rows, out, width))
