"""What a submission for the backward of tiled flash attention was asked to deliver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.contract import Contract, Param, Return, Role, Sample
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.contract import FORWARD, PARAMS
from judge_tui.checks.tasks.flash_attention.contract import sample as forward_sample
from judge_tui.checks.tasks.flash_attention.contract import sized as forward_sized
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, logsumexp
from judge_tui.checks.tasks.flash_attention_bwd.stated import SHAPES
from judge_tui.checks.tasks.flash_attention_bwd.timing import TIMING

__all__ = ["CONTRACT"]

_CACHE = (
    "ctx", "context", "saved", "saved_tensors", "saved_for_backward", "residuals", "res", "state", "memo",
    "stored", "intermediates", "tape", "fwd_cache", "forward_cache", "aux", "saved_values", "store", "cached",
    "attn_cache", "flash_cache", "fwd_state", "fwd_ctx", "bwd_cache", "caches", "vjp", "backward_fn",
    "backward", "pullback", "info", "extras",
)  # fmt: skip
_LSE = (
    "lse", "logsumexp", "log_sum_exp", "softmax_lse", "log_sumexp", "L_vec", "logsumexps", "lse_out",
    "row_lse", "softmax_stats", "stats", "log_normalizer", "logz", "log_l",
)  # fmt: skip
_DOUT = (
    "dout", "d_out", "do", "d_o", "grad_output", "grad_out", "grad_o", "output_grad", "upstream",
    "upstream_grad", "upstream_gradient", "grad", "g", "gy", "dy", "grads_output", "doutput", "d_output",
    "out_grad", "go", "gout", "g_out", "delta_o", "dl_do", "grad_outputs", "dattn", "gradient", "cotangent",
    "o_bar", "dldo",
)  # fmt: skip


def _gradient(letter: str, word: str) -> tuple[str, ...]:
    """Spellings of the gradient by one of the inputs."""
    plural = "queries" if word == "query" else f"{word}s"
    names = (letter, word, plural)
    return tuple(
        form.format(name)
        for name in names
        for form in ("d{}", "grad_{}", "g{}", "{}_grad", "dl_d{}", "d_{}", "grads_{}", "{}_bar", "{}")
    )


_ESTIMATED = (r"grad.*check", r"finite", r"(^|_)fd(_|$)")
_DO = Param("dO", aliases=_DOUT)
_SAVED = Param("cache", "handle", _CACHE, required=False)
_OUTPUT = Param("O", "handle", ("out", "output", "outputs", "attn_out", "attn_output"), required=False)
_STATISTICS = Param("L", "handle", _LSE, required=False)
_MODULE = Param("layer", "handle", ("attn", "attention", "module"), required=False)
_GIVEN = tuple(replace(p, required=False) for p in PARAMS if p.name in ("q", "k", "v"))
_SETTINGS = tuple(p for p in PARAMS if p.name not in ("q", "k", "v"))

_FORWARD = replace(
    FORWARD,
    returns=(
        FORWARD.returns[0],
        Return("L", "handle", _LSE, required=False, whole=True),
        Return("cache", "handle", _CACHE, required=False),
        Return("layer", "self", required=False),
    ),
)

_BACKWARD = Role(
    "backward",
    (_DO, _SAVED, *_SETTINGS[:2], *_GIVEN, _OUTPUT, _STATISTICS, _MODULE, *_SETTINGS[2:]),
    (
        Return("dQ", aliases=_gradient("q", "query")),
        Return("dK", aliases=_gradient("k", "key")),
        Return("dV", aliases=_gradient("v", "value")),
    ),
    (
        r"flash.*(bwd|backward|vjp)",
        r"(bwd|backward|vjp).*flash",
        r"flash.*grad|grad.*flash",
        r"att.*(bwd|backward)|(bwd|backward).*att",
        r"(^|_)(bwd|backward)(_|$)",
        r"back(ward|prop)?|bwd|pullback|vjp",
        r"(compute|get|calc).*grad|grad(ient)?s$",
    ),
    (*(p for p in FORWARD.avoid if not any(word in p for word in ("back", "bwd", "grad"))), *_ESTIMATED),
    sure=5,
)


_ALONE = replace(
    _BACKWARD,
    params=(
        *(p for p in PARAMS if p.name in ("q", "k", "v")),
        replace(_OUTPUT, kind="array"),
        replace(_STATISTICS, kind="array"),
        _DO,
        *_SETTINGS,
    ),
)


def _sample(rng: np.random.Generator) -> Sample:
    return _with_gradient(rng, forward_sample(rng))


def _sized(rng: np.random.Generator, sizes: Sizes) -> Sample:
    return _with_gradient(rng, forward_sized(rng, sizes))


def _with_gradient(rng: np.random.Generator, made: Sample) -> Sample:
    shape = made.shapes["O"]
    inputs = {**made.inputs, "dO": rng.standard_normal(shape)}
    return Sample(inputs, {"O": shape, "dQ": shape, "dK": shape, "dV": shape})


def _alone(shape: str, made: Callable[..., Sample] = _sample) -> Callable[..., Sample]:
    """The probe of a backward without a forward: O and L are the judge's, L in a shape."""

    def sample(*drawn: Any) -> Sample:
        made_of = made(*drawn)
        q, k, v, tile = (made_of.inputs[name] for name in ("q", "k", "v", "tile_size"))
        case = Case(q, k, v, tile, True)
        given = {"O": case.truth, "L": np.ascontiguousarray(SHAPES[shape](logsumexp(case)))}
        return Sample({**made_of.inputs, **given}, {name: made_of.shapes[name] for name in NAMES})

    return sample


def _without_forward(shapes: Sequence[str]) -> Contract | None:
    """What is asked for where nothing plays the forward: the gradients, with O and L handed over."""
    if not shapes:
        return None
    return Contract(
        (_ALONE,),
        _alone(shapes[0]),
        layouts=("HND", "ND"),
        otherwise=_without_forward(shapes[1:]),
        sized=_alone(shapes[0], _sized),
    )


CONTRACT = Contract(
    (_FORWARD, _BACKWARD),
    _sample,
    "flash_attention_fwd(Q, K, V (B, H, N, D), tile_size, causal) → (O, cache {O, L, Q, K, V}); "
    "flash_attention_bwd(dO, cache, tile_size, causal) → (dQ, dK, dV).",
    layouts=("HND", "ND"),
    timing=TIMING,
    otherwise=_without_forward(list(SHAPES)),
    sized=_sized,
)
