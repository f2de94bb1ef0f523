"""Layers of one cache: each attends over its own keys and values, whether they step by turns or at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.kv.faces.axis_orders import of_layer
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.limits import Worst, float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention, diagnosis
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge_layers", "judge_together"]

Array = npt.NDArray[Any]

_LAYERS, _STEPS = 3, 6


def judge_layers(subject: Subject, found: Findings, said: Sentences) -> None:
    """Step three layers of a cache whose length moves once for all of them, after the last."""
    parts, bench = dict(subject.bound), subject.bench
    if subject.mode in ("", "read") or not subject.main("append", "append_many", "step").takes("layer"):
        return
    if "create" not in parts or not ("advance_after" in parts or parts["create"].takes("one_layer")):
        return
    parts["create"] = parts["create"].handed(one_layer="layers")
    if not parts["create"].takes("layers"):
        return
    sizes = subject.sizes(2, _STEPS + 2, layers=_LAYERS)
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


def judge_together(subject: Subject, found: Findings, said: Sentences) -> None:
    """Hand a cache the tokens of three layers with one call, and ask for each of them."""
    parts, bench = dict(subject.bound), subject.bench
    if not subject.mode or "L" not in subject.main("append", "append_many", "step").layout:
        return
    if "create" not in parts or not parts["create"].takes("layers"):
        return
    sizes, worst = subject.sizes(2, _STEPS + 2, layers=_LAYERS), Worst()
    stream = drawn(bench.rng("together"), sizes, _STEPS)
    for layer in range(_LAYERS):
        cached = Cached(bench.worker, parts, sizes, lambda: bench.left, together=_LAYERS)
        cached.layer = layer
        own = tuple(of_layer(x, layer) for x in stream)
        for t in range(_STEPS):
            now = slice(t, t + 1)
            out = cached.feed(*(x[:, :, now] for x in stream))
            worst = worst.or_worse(_told(cached, out, own, t))
    quantity = f"decode steps of {_LAYERS} layers that go in with one call, largest relative error, float32"
    where = subject.where("attend", "read", "append")
    if not found.limit(quantity, worst.error, float32_limit(subject), note=worst.note, **where):
        said.append(f"of {_LAYERS} layers one is off by {worst.error:.2g} ({worst.where}){worst.because}")


def _told(cached: Cached, out: Array, own: tuple[Array, ...], t: int) -> Worst:
    """What a layer gives after its step ``t``, against what it was fed itself; ``own``: its q, k and v."""
    q, k, v = own[0][:, :, t : t + 1], own[1][:, :, : t + 1], own[2][:, :, : t + 1]
    where = f"position {t}, layer {cached.layer}"
    if cached.mode != "read":
        error = relative_error(out, attention(q, k, v))
        return Worst(error, where, diagnosis(out, q, k, v) if not error <= 1e-3 else "")
    held = [cached.stored(b) for b in range(cached.sizes.batch)]
    keys, values = (np.concatenate([pair[n] for pair in held]) for n in (0, 1))
    return Worst.of([relative_error(keys, k.astype(float)), relative_error(values, v.astype(float))], where)
