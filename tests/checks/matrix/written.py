"""Right caches in every way of being made, fed and told: one way in each of some respects, the rest as usual.

A cache keeps (layers, batch, heads, tokens, width) whatever it is handed; only what it is called by and with
differs from cell to cell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, replace

__all__ = ["RESPECTS", "Ways", "cells", "impossible", "source"]


@dataclass(frozen=True)
class Ways:
    """One cell.

    Attributes:
        axes: The order in which arrays go in and come out.
        config: What it is told its sizes by.
        feed: How tokens go in: ``update`` gives all that is held, ``step`` attends as well.
        layer: Whether a cache has several layers, and is told which.
        place: What says where tokens go, or that they are all there.
        sequence: Whether sequences go in one by one, named by the caller or by the cache.
        room: Whether it wants to be asked for room.
        scale: Whether attention is told the scale.
        attention: A method, or a function over what the cache gives back.
        together: Whether what all layers get goes in with one call.
    """

    axes: str = "BHND"
    config: str = "keywords"
    feed: str = "append"
    layer: str = "none"
    place: str = "own"
    sequence: str = "batch"
    room: str = "none"
    scale: str = "own"
    attention: str = "method"
    together: str = "no"

    @property
    def alone(self) -> bool:
        """Whether one sequence goes in with a call."""
        return "B" not in self.axes

    @property
    def name(self) -> str:
        """What differs from the usual, for a test's name."""
        usual = astuple(Ways())
        told = [
            f"{f.name}={way}"
            for f, way, own in zip(fields(self), astuple(self), usual, strict=True)
            if way != own
        ]
        return ",".join(told) or "usual"


#: Respect → its ways, the usual one first.
RESPECTS = {
    "axes": ("BHND", "BNHD", "NBHD", "BHD", "BNE", "HND", "NHD", "HD"),
    "config": ("keywords", "dataclass", "dict"),
    "feed": ("append", "update", "pair", "stack", "step"),
    "layer": ("none", "index"),
    "place": (
        "own", "start_pos", "positions", "lengths", "active", "advance", "advance_by", "advance_after",
    ),
    "sequence": ("batch", "named", "added"),
    "room": ("none", "reserve"),
    "scale": ("own", "told"),
    "attention": ("method", "function"),
    "together": ("no", "yes"),
}  # fmt: skip
#: Axes → how an array is brought to (B, H, N, D), and back.
_ORDERS = {
    "BHND": ("{}", "{}"),
    "BNHD": ("{}.transpose(0, 2, 1, 3)", "{}.transpose(0, 2, 1, 3)"),
    "NBHD": ("{}.transpose(1, 2, 0, 3)", "{}.transpose(2, 0, 1, 3)"),
    "BHD": ("{}[:, :, None, :]", "{}[:, :, 0, :]"),
    "BNE": ("self.split({})", "self.join({})"),
    "HND": ("{}[None]", "{}[0]"),
    "NHD": ("{}.transpose(1, 0, 2)[None]", "{}[0].transpose(1, 0, 2)"),
    "HD": ("{}[None, :, None, :]", "{}[0, :, 0, :]"),
}
_SCALE = "1.0 / math.sqrt(self.k.shape[-1])"
_SIZES = {"n_layers": 2, "batch_size": 2, "n_heads": 4, "max_len": 32, "head_dim": 8}
_SHARED = """
    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(0, 2, 1, 3)

    def join(self, x):
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)

    def put(self, layer, rows, k, v, start, counts=None, moves=True):
        counts = np.full(k.shape[0], k.shape[2]) if counts is None else counts
        for i, row in enumerate(range(self.k.shape[1])[rows]):
            n, at = int(counts[i]), int(start[i])
            if at + n > self.k.shape[3]:
                raise ValueError("the cache is full")
            self.k[layer, row, :, at : at + n] = k[i, :, :n]
            self.v[layer, row, :, at : at + n] = v[i, :, :n]
            if moves:
                self.n[layer, row] = at + n

    def held(self, layer, rows):
        total = int(self.n[layer][rows].max())
        return self.k[layer][rows, :, :total], self.v[layer][rows, :, :total]

    def out(self, layer, rows, q, scale, pending=0):
        n = self.n[layer][rows] + pending
        total = int(n.max())
        k, v = self.k[layer][rows, :, :total], self.v[layer][rows, :, :total]
        place = n[:, None] - q.shape[2] + np.arange(q.shape[2])[None]
        hidden = np.arange(total)[None, None, None] > place[:, None, :, None]
        scores = np.where(hidden, -np.inf, q @ k.transpose(0, 1, 3, 2) * scale)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v
"""
_FUNCTION = '''

def attention(q, k, v, causal=True):
    """q: (B, H, T, D); k, v: (B, H, S, D)."""
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
    if causal:
        t, n = scores.shape[-2:]
        scores = np.where(np.arange(n)[None] > np.arange(t)[:, None] + n - t, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v
'''


def impossible(ways: Ways) -> str:
    """Why there is no such cache; empty where there is."""
    several = ways.layer != "none" or ways.together == "yes"
    if ways.alone and ways.place in ("lengths", "active", "positions"):
        return "one sequence has nothing to be told of each"
    if ways.sequence != "batch" and not ways.alone:
        return "a call is about one sequence, or about all"
    if ways.together == "yes" and (ways.layer != "none" or ways.feed in ("update", "step")):
        return "what all layers get in one call names no layer, and attention is over one of them"
    if ways.together == "yes" and (ways.place != "own" or ways.sequence != "batch"):
        return "left to the cells of one layer"
    if ways.attention == "function" and (ways.axes != "BHND" or ways.feed == "step" or several):
        return "a function over what is given back is one layer's, in the usual axes"
    if ways.feed == "update" and ways.attention == "method":
        return "what gives back all that it holds leaves attention to others"
    if ways.scale == "told" and (ways.feed in ("step", "update") or ways.attention == "function"):
        return "the scale is told to a method that attends"
    if ways.place.startswith("advance") and ways.feed in ("step", "update"):
        return "what attends or gives back at once has counted already"
    return ""


def cells() -> Iterator[Ways]:
    """Every two respects in every two of their ways."""
    seen: set[Ways] = set()
    for first, second in itertools.combinations(RESPECTS, 2):
        for one, other in itertools.product(RESPECTS[first], RESPECTS[second]):
            ways = replace(Ways(), **{first: one, second: other})
            if ways.feed == "update":
                ways = replace(ways, attention="function")
            if ways.sequence != "batch" and not ways.alone:
                ways = replace(ways, axes="HND")
            if ways not in seen and not impossible(ways):
                seen.add(ways)
                yield ways


def source(ways: Ways) -> str:
    """The cache as a file."""
    head = "import math\nfrom dataclasses import dataclass\n\nimport numpy as np\n\n\n"
    body = "".join((*_made(ways), *_told(ways), *_fed(ways), *_attended(ways), *_read(ways)))
    config, function = _config(ways), _FUNCTION * (ways.attention == "function")
    return f"{head}{config}class KVCache:\n{body}{_SHARED}{function}"


def _names(ways: Ways) -> list[str]:
    """The sizes that it is told of."""
    layers = ways.layer != "none" or ways.together == "yes"
    left_out = {"n_layers": not layers, "batch_size": ways.alone}
    return [name for name in _SIZES if not left_out.get(name)]


def _config(ways: Ways) -> str:
    if ways.config != "dataclass":
        return ""
    lines = "".join(f"    {name}: int = {_SIZES[name]}\n" for name in _names(ways))
    return f"@dataclass\nclass CacheConfig:\n{lines}\n\n"


def _made(ways: Ways) -> Iterator[str]:
    names = _names(ways)
    taken = {"keywords": ", ".join(names), "dataclass": "config: CacheConfig", "dict": "config"}[ways.config]
    yield f"    def __init__(self, {taken}):\n"
    read = {
        "keywords": "",
        "dataclass": "        {0} = config.{0}\n",
        "dict": '        {0} = config["{0}"]\n',
    }
    yield from (read[ways.config].format(name) for name in names)
    layers = "n_layers" if "n_layers" in names else "1"
    rows = "batch_size" if not ways.alone else "1" if ways.sequence == "batch" else "999"
    yield "        self.heads, self.pending, self.free = n_heads, 0, list(range(999))\n"
    yield f"        self.k = np.zeros(({layers}, {rows}, n_heads, max_len, head_dim), np.float32)\n"
    yield f"        self.v = np.zeros_like(self.k)\n        self.n = np.zeros(({layers}, {rows}), int)\n"


def _told(ways: Ways) -> Iterator[str]:
    """What it is told beside its tokens."""
    if ways.sequence == "added":
        yield "\n    def add_sequence(self):\n        return self.free.pop(0)\n"
    if ways.room == "reserve":
        yield "\n    def reserve(self, extra):\n        if int(self.n.max()) + extra > self.k.shape[3]:\n"
        yield '            raise ValueError("too long")\n'
    if ways.place == "advance":
        yield "\n    def advance(self):\n        self.n += self.pending\n        self.pending = 0\n"
    if ways.place in ("advance_by", "advance_after"):
        yield "\n    def advance(self, n):\n        self.n += n\n        self.pending = 0\n"


def _where(ways: Ways) -> tuple[list[str], str, str]:
    """Parameters that say what a call is about, and the layer and the rows that they mean."""
    layer = ["layer_idx"] if ways.layer == "index" else []
    sequence = ["seq_id"] if ways.sequence != "batch" else []
    rows = "slice(seq_id, seq_id + 1)" if sequence else "slice(None)"
    return [*layer, *sequence], "layer_idx" if layer else "0", rows


def _fed(ways: Ways) -> Iterator[str]:
    where, layer, rows = _where(ways)
    to, back = _ORDERS[ways.axes]
    tokens = {"pair": ["kv"], "stack": ["kv"], "step": ["q", "k", "v"]}.get(ways.feed, ["k", "v"])
    place = [ways.place] if ways.place in ("start_pos", "positions", "lengths", "active") else []
    name = ways.feed if ways.feed in ("update", "step") else "append"
    yield f"\n    def {name}({', '.join(['self', *where, *tokens, *place])}):\n"
    yield {"pair": "        k, v = kv\n", "stack": "        k, v = kv[0], kv[1]\n"}.get(ways.feed, "")
    if ways.together == "yes":
        yield "        for layer in range(self.k.shape[0]):\n            self.put(layer, slice(None), "
        yield f"{to.format('k[layer]')}, {to.format('v[layer]')}, self.n[layer])\n"
        return
    yield f"        k, v = {to.format('k')}, {to.format('v')}\n"
    start = {
        "start_pos": "np.full(self.n.shape[1], start_pos)",
        "positions": "np.asarray(positions).reshape(self.n.shape[1], -1)[:, 0]",
    }.get(ways.place, f"self.n[{layer}]")
    counts = {
        "lengths": ", counts=np.asarray(lengths)",
        "active": ", counts=np.asarray(active).astype(int) * k.shape[2]",
    }.get(ways.place, "")
    apart = ways.place.startswith("advance")
    moves = ", moves=False" if apart else ""
    yield f"        self.put({layer}, {rows}, k, v, {start}[{rows}]{counts}{moves})\n"
    if apart:
        yield "        self.pending = k.shape[2]\n"
    if ways.feed == "step":
        yield f"        out = self.out({layer}, {rows}, {to.format('q')}, {_SCALE})\n"
        yield f"        return {back.format('out')}\n"
    if ways.feed == "update":
        yield f"        k, v = self.held({layer}, {rows})\n"
        yield f"        return {_all(ways, 'k')}, {_all(ways, 'v')}\n"


def _attended(ways: Ways) -> Iterator[str]:
    if ways.attention != "method" or ways.feed == "step":
        return
    where, layer, rows = _where(ways)
    if ways.together == "yes":
        where, layer = ["layer_idx"], "layer_idx"
    to, back = _ORDERS[ways.axes]
    scale = ["scale"] if ways.scale == "told" else []
    used = "scale" if scale else _SCALE
    pending = ", self.pending" if ways.place == "advance_after" else ""
    yield f"\n    def attend({', '.join(['self', *where, 'q', *scale])}):\n"
    yield f"        out = self.out({layer}, {rows}, {to.format('q')}, {used}{pending})\n"
    yield f"        return {back.format('out')}\n"


def _read(ways: Ways) -> Iterator[str]:
    where, layer, rows = _where(ways)
    if ways.together == "yes":
        where, layer = ["layer_idx"], "layer_idx"
    yield f"\n    def get({', '.join(['self', *where])}):\n        k, v = self.held({layer}, {rows})\n"
    yield f"        return {_all(ways, 'k')}, {_all(ways, 'v')}\n"


def _all(ways: Ways, name: str) -> str:
    """All tokens in the order of one: what goes in without their axis comes out with it."""
    back = {"BHD": "{}", "HD": "{}[0]"}.get(ways.axes, _ORDERS[ways.axes][1])
    return back.format(name)
