from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Cache:
    normalised: np.ndarray
    rstd: np.ndarray
    weight: np.ndarray


@dataclass
class ForwardResult:
    output: np.ndarray
    cache: Cache = field(repr=False)


@dataclass
class LayerNormGrads:
    grad_input: np.ndarray
    grad_weight: np.ndarray
    grad_bias: np.ndarray


def layer_norm_forward(inputs, weight, bias, *, eps: float = 1e-5) -> ForwardResult:
    mean = np.mean(inputs, axis=-1, keepdims=True)
    rstd = np.reciprocal(np.sqrt(np.var(inputs, axis=-1, keepdims=True) + eps))
    normalised = (inputs - mean) * rstd
    return ForwardResult(normalised * weight + bias, Cache(normalised, rstd, weight))


def layer_norm_backward(grad_output, cache: Cache) -> LayerNormGrads:
    h = cache.normalised
    g = grad_output * cache.weight
    grad_input = cache.rstd * (g - g.mean(-1, keepdims=True) - h * (g * h).mean(-1, keepdims=True))
    return LayerNormGrads(
        grad_input, (grad_output * h).sum(axis=(0, 1), keepdims=True), grad_output.sum(axis=(0, 1), keepdims=True)
    )
