"""Layers of one cache that step together: each attends over its own keys and values, and they move once."""

from __future__ import annotations

from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.kv.cache.cached import Cached
from judge_tui.checks.tasks.kv.finding.readings import renamed
from judge_tui.checks.tasks.kv.judging import Worst, float32_limit
from judge_tui.checks.tasks.kv.reference import attention, diagnosis
from judge_tui.checks.tasks.kv.sizes import Sizes
from judge_tui.checks.tasks.kv.streams import drawn
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge_layers"]

_LAYERS, _STEPS = 3, 6


def judge_layers(subject: Subject, found: Findings, said: list[str]) -> None:
    """Step three layers of a cache whose length moves once for all of them, after the last."""
    parts, bench = dict(subject.found), subject.bench
    if subject.mode in ("", "read") or not subject.main("append", "append_many", "step").takes("layer"):
        return
    if "create" not in parts or not ("advance_after" in parts or parts["create"].takes("one_layer")):
        return
    parts["create"] = renamed(parts["create"], "one_layer", "layers")
    if not parts["create"].takes("layers"):
        return
    sizes = Sizes(2, 3, _STEPS + 2, 8, layers=_LAYERS)
    cached = Cached(bench.worker, parts, sizes, lambda: bench.left)
    streams = [drawn(bench.rng("in step", layer), sizes, _STEPS) for layer in range(_LAYERS)]
    layers, worst = cached.in_step(), Worst()
    for t in range(_STEPS):
        now, seen = slice(t, t + 1), slice(0, t + 1)
        for index, (layer, (q, k, v)) in enumerate(zip(layers, streams, strict=True)):
            given = q[:, :, now], k[:, :, seen], v[:, :, seen]
            out = layer.feed(q[:, :, now], k[:, :, now], v[:, :, now])
            error = relative_error(out, attention(*given))
            cause = diagnosis(out, *given) if not error <= 1e-3 else ""
            worst = worst.or_worse(Worst(error, f"position {t}, layer {index}", cause))
    limit = float32_limit(subject)
    quantity = f"decode steps of {_LAYERS} layers that move on together, largest relative error, float32"
    if not found.limit(quantity, worst.error, limit, note=worst.note, **subject.where("append")):
        said.append(
            f"{_LAYERS} layers of one step are off by {worst.error:.2g} ({worst.where}){worst.because}"
        )
