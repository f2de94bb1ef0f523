"""The sizes that a calculator is asked about, and what parameters that mean them are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Geometry", "drawn", "meaning", "neutral"]

#: Bytes of a number → its type, by NumPy's name and by a short one.
_TYPES = {1: "int8", 2: "float16", 4: "float32", 8: "float64"}
_SHORT = {1: "int8", 2: "fp16", 4: "fp32", 8: "fp64"}


@dataclass(frozen=True, slots=True)
class Geometry:
    """A model, its use and a GPU, in sizes of which no product equals another.

    Attributes:
        layers: Of the model.
        heads: Of queries.
        kv_heads: Of keys and values.
        head_dim: Width of a head.
        batch: Sequences.
        seq: Tokens of each.
        itemsize: Bytes of a stored number.
        params: Of the model.
        memory: Of the GPU, in its GB, whichever those are.
        weight_itemsize: Bytes of a weight.
        width: Of the model, where it is not that of its heads together; 0 where it is.
    """

    layers: int = 26
    heads: int = 20
    kv_heads: int = 5
    head_dim: int = 96
    batch: int = 3
    seq: int = 7000
    itemsize: int = 2
    params: int = 7_000_000_000
    memory: float = 80.0
    weight_itemsize: int = 2
    width: int = 0

    @property
    def embed(self) -> int:
        """Width of the model."""
        return self.width or self.heads * self.head_dim

    def inputs(self) -> dict[str, Any]:
        """By canonical name; a type also by its names, an allowance as what takes nothing away."""
        stored, weight = self.itemsize, self.weight_itemsize
        return {
            "layers": self.layers, "heads": self.heads, "kv_heads": self.kv_heads, "embed": self.embed,
            "head_dim": self.head_dim, "batch": self.batch, "seq": self.seq, "window": self.seq,
            "itemsize": stored, "bits": 8 * stored, "params": self.params, "params_b": self.params / 1e9,
            "memory": self.memory, "memory_bytes": int(self.memory * 1e9), "weight_itemsize": weight,
            "weight_gb": self.params * weight / 1e9, "weight_bytes": self.params * weight, "vocab": 32_000,
            "ff": 4 * self.embed, "name": "model", "bandwidth": 2000.0, "flops": 300.0, "reserve_gb": 0,
            "per_token": 2 * self.layers * self.kv_heads * self.head_dim * stored,
            "reserve_all": 1.0, "reserve_none": 0.0,
            "dtype": _TYPES[stored], "dtype_name": _TYPES[stored], "dtype_short": _SHORT[stored],
            "weight_dtype": _TYPES[weight], "weight_dtype_name": _TYPES[weight],
            "weight_dtype_short": _SHORT[weight],
        }  # fmt: skip


def drawn(rng: np.random.Generator) -> tuple[Geometry, Geometry]:
    """Two that differ in every size and every ratio of sizes: nothing agrees with both by chance."""
    kv = int(rng.choice([5, 7]))
    one = Geometry(
        layers=int(rng.choice([26, 28, 34, 38])), heads=4 * kv, kv_heads=kv,
        head_dim=int(rng.choice([96, 112])), batch=3, seq=int(rng.integers(7000, 8000)), itemsize=2,
    )  # fmt: skip
    kv = int(rng.choice([6, 8]))
    other = Geometry(
        layers=int(rng.choice([14, 18, 22])), heads=3 * kv, kv_heads=kv, head_dim=int(rng.choice([64, 72])),
        batch=8, seq=int(rng.integers(11_000, 12_000)), itemsize=4,
    )  # fmt: skip
    return one, other


_HELD = r"(gb|gib|bytes|mb|mib)"
_MEANINGS: tuple[tuple[str, str], ...] = (
    ("layers", r"(num|n)_?(hidden_?)?layers?|layers|n_?l|depth|n_?blocks?|l"),
    ("kv_heads", r"(num|n)_?(kv|key_?value)_?heads?|kv_?heads?|kvh|n_?h_?kv|h_?kv|(num_?)?heads?_?kv"),
    (
        "heads",
        r"((num|n)_?)?(attention|attn|query|q)_?heads?|(num|n)_?heads?|heads|h|nheads|(num|n)_?heads?_?q",
    ),
    ("head_dim", r"head_?(dim|size)|d_?(head|k)|dim_?(per_?)?head|hd|dh|d"),
    ("embed", r"d_?model|hidden_?(size|dim)|embed(ding)?_?dim|model_?dim|n_?embd|dim|e|width"),
    ("per_token", r"(kv_?)?(cache_?)?bytes_?per_?tok(en)?|per_?token(_?bytes)?|kv_?per_?token"),
    (
        "weight_itemsize",
        r"(weight|param|model)s?_?(dtype_?)?(bytes_?per_?(param|element|weight)|itemsize)|"
        r"(weight|param|model)s?_?dtype_?(bytes|size)|bytes_?per_?(param|weight|parameter)|param_?bytes",
    ),
    (
        "itemsize",
        r"((kv|cache)_?)?(dtype|elem(ent)?|el|value|item)_?(bytes|size)|itemsize|nbytes|precision_?bytes|"
        r"(kv_?)?bytes_?per_?(elem(ent)?|value|el|elt|scalar|entry|number|kv|dtype)|"
        r"(kv|cache)_?(dtype_?)?bytes",
    ),
    ("bits", r"((kv|cache)_?)?(n_?|num_?)?bits(_?per_?(elem(ent)?|value))?"),
    ("weight_gb", r"(model|weights?)_?(size_?|mem(ory)?_?|weights?_?)?(gb|gib)"),
    ("weight_bytes", r"(model|weights?|params?)_?(size_?|mem(ory)?_?|weights?_?)?(bytes|mem(ory)?|size)"),
    ("params_b", r"(num_?|n_?|model_?)?params?_?(in_?)?(b|billions?)|billions?\w*|(model_?)?size_?b"),
    ("params", r"(num_?|n_?|model_?|total_?)?(params?|parameters?)(_?count)?|param_?count"),
    (
        "batch",
        r"(max_?)?batch(_?size)?|b|bs|bsz|(num|n|max)_?(seq(uence)?s?|requests?|concurrent\w*)|concurrency",
    ),
    (
        "seq",
        r"(max_?)?(seq(uence)?_?len(gth)?|seq|context(_?len(gth)?)?|ctx(_?len)?|length|len|tokens?|"
        r"position\w*)|s|t|(num|n|total|max)_?tokens?|n_?ctx|prompt_?len(gth)?",
    ),
    ("window", r"((sliding|attention|attn|local|max)_?)*window(_?(size|len(gth)?|tokens))?"),
    (
        "memory_bytes",
        r"((gpu|device|total|available|usable)_?)*(mem(ory)?|vram|hbm|capacity|budget)_?bytes|"
        r"(gpu|device|card)_?bytes",
    ),
    (
        "memory",
        r"((total|available|usable|gpu|device|card)_?)*((mem(ory)?|vram|hbm|ram|capacity|budget|size)_?)*"
        r"(gb|gib)|((total|available|gpu|device)_?)*(mem(ory)?|vram|hbm)(_?capacity|_?size|_?budget)?|"
        r"capacity|budget",
    ),
    (
        "reserve_gb",
        r"(reserved?|overhead|activation\w*|headroom|workspace|runtime|other|misc)_?(mem(ory)?_?)?" + _HELD,
    ),
    (
        "reserve",
        r"(gpu_?)?(mem(ory)?_?)?(reserved?|overhead|margin|headroom|safety|fragmentation|utili[sz]ation|"
        r"util|usable|usage|activation\w*|fraction|efficiency)"
        r"(_?(fraction|factor|frac|ratio|margin|percent|pct|overhead))?",
    ),
    ("dtype", r"((kv|cache|model)_?)?(dtype|precision|data_?type)"),
    ("weight_dtype", r"(weight|param)s?_?(dtype|precision)"),
    ("vocab", r"(n_?)?vocab(_?size)?|v"),
    ("ff", r"d_?ff|ffn?_?(dim|size)|intermediate_?(size|dim)|mlp_?dim"),
    ("name", r"name|label|model_?name|gpu_?name"),
    ("bandwidth", r"\w*bandwidth\w*|bw\w*"),
    ("flops", r"\w*(tflops?|flops)\w*"),
)
_COMPILED = tuple((name, re.compile(rf"^(?:{pattern})$")) for name, pattern in _MEANINGS)


def meaning(name: str) -> str:
    """What a parameter of this name is; empty when unknown."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
    return next((quantity for quantity, pattern in _COMPILED if pattern.match(words)), "")


def neutral(name: str, default: object) -> float:
    """The value of an allowance that takes nothing away, told by its default and its name."""
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        if default >= 1:
            return 1.0 if default < 10 else 0.0
        return 1.0 if default >= 0.5 else 0.0
    return 1.0 if re.search(r"util|usable|efficien|fraction$", name, re.I) else 0.0
