"""What a submission for ternary training was asked to deliver."""

from __future__ import annotations

from judge_tui.checks.contract import Contract
from judge_tui.checks.tasks.ternary_training import layers as finding
from judge_tui.checks.tasks.ternary_training import roles
from judge_tui.checks.tasks.ternary_training.timing import TIMING

__all__ = ["CONTRACT"]

#: What a training run may well be built on; the challenge names none.
_FRAMEWORKS = frozenset({
    "mlx", "mlx_lm", "torch", "jax", "flax", "optax", "equinox", "tensorflow", "keras", "tinygrad",
    "autograd", "transformers", "datasets", "tokenizers", "tiktoken", "accelerate", "cupy", "triton",
})  # fmt: skip

CONTRACT = Contract(
    (roles.PROJECT, roles.FORWARD, roles.BACKWARD),
    roles.sample,
    "a linear layer with latent float weights, projected in groups of 128 to s·{-1, 0, 1}, s = mean|W|; "
    "a straight-through backward; a training run with its log.",
    find=finding.find,
    timing=TIMING,
    frameworks=_FRAMEWORKS,
)
