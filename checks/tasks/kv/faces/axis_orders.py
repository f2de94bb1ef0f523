"""Axis orders in which submissions take keys, values and queries.

A layout names the axes of what goes over the wire: ``BHND`` is (batch, heads, tokens, head size),
``BNHD`` has tokens before heads, ``BHD`` drops the token axis (one token), ``HND`` and ``NHD`` drop the
batch (one sequence), ``HD`` both, and ``BNE`` joins heads and head size into one axis. ``ND`` and ``D`` are
rows of a single head. ``L`` is the axis
of layers, where all of them go in with one call: ``LNHD``. ``P`` holds the real tokens of all sequences, one
sequence behind the other and nothing between: ``PHD``. ``R`` is a list with the real tokens of each sequence
in an array of its own: ``RHND`` is one of (heads, tokens, head size) arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.layouts import back, handed

__all__ = [
    "JOINED",
    "LAYERS",
    "LAYOUTS",
    "ONE_HEAD",
    "SOLO",
    "answered",
    "fits",
    "from_wire",
    "layered",
    "of_layer",
    "one_headed",
    "one_layer",
    "packed",
    "to_wire",
    "unpacked",
    "wire_shape",
]

Array = npt.NDArray[Any]

#: Layers of a trial where all go in together: as many as no other axis has, so that it shows which is whose.
LAYERS = 5
#: Layouts of a whole batch, in the order in which they are tried.
LAYOUTS = ("BHND", "BNHD", "NBHD", "BHD", "BNE")
#: Layouts of one sequence.
SOLO = ("HND", "NHD", "HD", "NE")
#: Layouts of one sequence and one head: what keeps rows alone is told of no heads.
ONE_HEAD = ("ND", "D")
#: Layouts in which an answer may come though the question went in another.
JOINED = ("BNE", "BHD", "BE", "NE", "HD", "E")


def layered(orders: Sequence[str]) -> tuple[str, ...]:
    """The same axis orders with all layers in front; then with layers behind tokens or sequences."""
    several = [order for order in orders if "E" not in order]
    behind = [f"{order[0]}L{order[1:]}" for order in several if order[0] in "BN"]
    return tuple(dict.fromkeys([f"L{order}" for order in several] + behind))


def one_headed(layout: str) -> bool:
    """Whether what goes in has no heads, neither as an axis nor joined."""
    return bool(layout) and not set(layout) & {"H", "E"}


def one_layer(layout: str) -> str:
    """The axis order of what a single layer gets."""
    return layout.replace("L", "")


def answered(layout: str) -> tuple[str, ...]:
    """Layouts in which the answer to arrays in ``layout`` may come, itself first."""
    if "L" not in layout:
        return (layout, *JOINED)
    return (layout, *layered([one_layer(layout), one_layer(layout).replace("N", "")]))


def of_layer(array: Array, layer: int) -> Array:
    """What goes to a layer beside the first, which gets ``array``: as large, and other numbers.

    Args:
        array: (B, H, N, D).
        layer: Index of the layer; 0 is the first.
    """
    return array if layer == 0 else np.roll(array, layer, axis=-1) * (-1) ** layer


def fits(layout: str, batch: int, tokens: int) -> bool:
    """Whether arrays of so many sequences and tokens can be handed over in a layout."""
    return ("B" in layout or batch == 1) and ("N" in layout or tokens == 1)


def to_wire(array: Array, layout: str, layers: int = 1) -> Array:
    """Hand a (B, H, N, D) array over in ``layout``, with what other layers get where they go in with it."""
    if "L" in layout:
        pieces = [to_wire(of_layer(array, layer), one_layer(layout)) for layer in range(layers)]
        return np.ascontiguousarray(np.stack(pieces, axis=layout.index("L")))
    # axes that are left out have a length of one
    return np.ascontiguousarray(handed(array, layout).reshape(wire_shape(array.shape, layout)))


def wire_shape(shape: tuple[int, ...], layout: str, layers: int = 1) -> tuple[int, ...]:
    """What a (B, H, N, D) shape is in ``layout``."""
    b, h, n, d = shape
    sizes = {"B": b, "H": h, "N": n, "D": d, "E": h * d, "L": layers}
    return tuple(sizes[axis] for axis in layout)


def from_wire(array: Array, shape: tuple[int, ...], layout: str, layer: int = 0) -> Array:
    """Bring an array that came in ``layout`` back to (B, H, N, D).

    Args:
        array: As it came.
        shape: (B, H, N, D).
        layout: Its layout.
        layer: Which layer is asked for, where all of them came.
    """
    if "L" in layout:
        array, layout = np.take(array, layer, axis=layout.index("L")), one_layer(layout)
    return back(array, shape, layout)


def packed(array: Array, counts: Array) -> Array:
    """The real tokens of all sequences behind each other, as those of one.

    Args:
        array: (B, H, N, D).
        counts: (B,) real tokens of each sequence, P in all.

    Returns:
        (1, H, P, D).
    """
    return np.concatenate([array[b : b + 1, :, :n] for b, n in enumerate(counts)], axis=2)


def unpacked(array: Array, counts: Array, tokens: int) -> Array:
    """The reverse of :func:`packed`: (B, H, ``tokens``, D), NaN beyond a sequence's count."""
    _one, heads, _all, width = array.shape
    out = np.full((len(counts), heads, tokens, width), np.nan)
    for b, (n, end) in enumerate(zip(counts, np.cumsum(counts), strict=True)):
        out[b, :, :n] = array[0, :, end - n : end]
    return out
