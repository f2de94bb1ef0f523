"""A task for judge-tui: RMS normalisation with its gradients, rows of x (B, D) scaled to unit mean square."""

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.contract import Contract, Param, Return, Role, Sample
from judge_tui.checks.generic import with_generic
from judge_tui.checks.gradients import Independence, differences, independent
from judge_tui.checks.task import Task
from judge_tui.checks.tolerance import SLACK, calibrated, relative_error

SHAPE, EPS = (6, 5), 1e-3


def draw(rng):
    """Inputs that separate right from lucky: a gain that is never 1, rows whose mean square is near eps."""
    size = np.sqrt(EPS) * 10.0 ** rng.uniform(-0.5, 2.0, (SHAPE[0], 1))
    x = size * rng.standard_normal(SHAPE) + size
    return {"x": x, "gain": rng.uniform(1.2, 3.0, SHAPE[1]), "eps": EPS, "dy": rng.standard_normal(SHAPE)}


def normed(x, gain, eps, dy=None, kind=np.float64):
    """The reference: y of (B, D); in float32 it shows what sound code reaches."""
    x, gain = x.astype(kind), gain.astype(kind)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + kind(eps)) * gain


def gradients(x, gain, eps, dy):
    """The reference: dx of (B, D) and dgain of (D,)."""
    rstd = 1.0 / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    unit, g = x * rstd, dy * gain
    return rstd * (g - unit * (g * unit).mean(-1, keepdims=True)), (dy * unit).sum(0)


CACHE = Param("cache", "handle", ("ctx", "saved", "state"))
X, GAIN = Param("x", aliases=("inputs",)), Param("gain", aliases=("gamma", "weight", "scale", "g"))
EPSILON = Param("eps", "float", ("epsilon",), required=False)
FORWARD = Role(
    "forward", (X, GAIN, EPSILON),
    (Return("y", aliases=("out",)), Return("cache", "handle", CACHE.aliases)),
    (r"rms.*(forward|fwd)|(forward|fwd).*rms", r"forward|fwd", r"rms_?norm"),
)  # fmt: skip
BACKWARD = Role(
    "backward", (Param("dy", aliases=("dout", "grad_output")), CACHE),
    (Return("dx", aliases=("grad_x",)), Return("dgain", aliases=("dgamma", "dweight", "grad_gain"))),
    (r"backward|bwd", r"grad|vjp"),
)  # fmt: skip


def sample(rng):
    """The small call that confirms a binding."""
    return Sample(draw(rng), {"y": SHAPE, "dx": SHAPE, "dgain": SHAPE[1:]})


@check("values", "y", establishes="y is right for a random gain and where the mean square is near eps.",
       roles=("forward",))  # fmt: skip
def values(bench: Bench, found: Findings) -> str:
    """Hold y of three draws against the reference, by fifty times what float32 arithmetic loses."""
    where = bench.binding("forward")
    for index in range(3):
        inputs = draw(bench.rng(index))
        truth = normed(**inputs)
        error = relative_error(bench.call("forward", inputs).array("y", SHAPE), truth)
        limit = calibrated(relative_error(normed(**inputs, kind=np.float32), truth), np.float32)
        found.limit("y, relative error per row", error, limit, file=where.file, line=where.line)
    return f"y is {error:.1e} off"


@check("gradients", "dx and dgain", roles=("forward", "backward"),
       establishes="The gradients are the analytic ones and those of its own forward.")  # fmt: skip
def own_gradients(bench: Bench, found: Findings) -> str:
    """Hold dx and dgain against both; one feature of all rows is moved at once where rows are independent."""
    where, inputs = bench.binding("backward"), draw(bench.rng("inputs"))
    cache = bench.call("forward", inputs).handle("cache")
    answer = bench.call("backward", inputs, cache=cache)
    for name, truth in zip(("dx", "dgain"), gradients(**inputs), strict=True):
        error = relative_error(answer.array(name, truth.shape), truth)
        found.limit(f"{name}, relative error", error, 1e-6, file=where.file, line=where.line)

    def own(at):
        return bench.call("forward", {**inputs, **at}).array("y", SHAPE)

    at, rows = {"x": inputs["x"]}, Independence("x", ((0, 0),))
    if not independent(own, at, rows, bench.rng("rows")):
        rows = Independence("x")
    spread = np.abs(inputs["x"]).max(-1, keepdims=True)
    estimate = differences(own, at, rows, inputs["dy"], scale=spread)
    error = relative_error(answer.array("dx", SHAPE), estimate.value)
    limit = SLACK * estimate.disagreement + 1e-9
    found.limit("dx against differences of its own forward", error, limit, file=where.file, line=where.line)
    return f"dx is {error:.1e} off its own forward's differences"


TEXT = "forward(x (B, D), gain (D,), eps) → (y, cache); backward(dy, cache) → (dx, dgain)."
CONTRACT = Contract((FORWARD, BACKWARD), sample, TEXT)
TASK = Task("rms_norm", "RMS normalisation", CONTRACT, with_generic(values, own_gradients))
