"""The query tiles and key tiles that a submission takes when it is told none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.calling.binding import Binding

__all__ = ["own_tiles", "takes_both"]

#: Larger tiles of its own are left alone: three of them would take too many scores.
_LARGEST = 128


def takes_both(binding: Binding) -> bool:
    """Whether it can be told query tiles and key tiles."""
    return binding.takes("tile_size") and binding.takes("tile_k")


def own_tiles(bench: Bench, binding: Binding) -> tuple[int, int] | None:
    """The query tile and the key tile that it takes when it is told none, where they differ."""
    params = list(_params(bench, binding))
    told: dict[str, Any] = {}
    arguments = next(
        (args for args in (binding.init or (), binding.args) if any(a.source == "tile_k" for a in args)), ()
    )
    for index, argument in enumerate(arguments):
        name = argument.keyword or (params[index]["name"] if index < len(params) else "")
        told[argument.source] = next((p.get("default") for p in params if p["name"] == name), None)
    tiles = told.get("tile_size"), told.get("tile_k")
    if not all(type(tile) is int and 0 < tile <= _LARGEST for tile in tiles) or tiles[0] == tiles[1]:
        return None
    return int(tiles[0] or 0), int(tiles[1] or 0)


def _params(bench: Bench, binding: Binding) -> list[Mapping[str, Any]]:
    """The parameters of what is told the tiles: the constructor, or the callable."""
    if any(argument.source == "tile_k" for argument in binding.init or ()):
        classes = bench.bindings.loaded[binding.file]["classes"]
        cls = binding.name.partition(".")[0]
        return next((list(each["params"] or ()) for each in classes if each["name"] == cls), [])
    for each in callables(bench.bindings.loaded):
        if f"{each.file}:{each.name}" == binding.target:
            return each.params
    return []
