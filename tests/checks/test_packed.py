"""Objects of settings that a signature wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judge_tui.checks.binding.packed import settings
from judge_tui.checks.contract import Param, Role

_ROLE = Role("step", (Param("head_dim", "int"), Param("q")), (), patterns=(r"step",))


class Counted(Mapping[str, Mapping[str, Any]]):
    """Inventories that count how often they are gone through."""

    def __init__(self, classes: list[dict[str, Any]]) -> None:
        self._files, self.times = {"a.py": {"classes": classes}}, 0

    def __getitem__(self, file: str) -> Mapping[str, Any]:
        return self._files[file]

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _place(name: str, annotation: str = "") -> dict[str, Any]:
    return {"name": name, "kind": "POSITIONAL_OR_KEYWORD", "annotation": annotation}


def test_what_is_named_after_settings_or_annotated_with_them_is_made_of_what_the_role_takes() -> None:
    loaded = Counted([{"name": "CacheConfig", "params": [_place("head_dim", "int")]}])
    assert settings(loaded, [_place("config")], _ROLE)["config"].made == "a.py:CacheConfig"
    assert settings(loaded, [_place("shape", "CacheConfig")], _ROLE)["shape"].made == "a.py:CacheConfig"
    assert settings(loaded, [_place("shape")], _ROLE) == {}


def test_a_parameter_that_wants_no_settings_looks_through_no_classes() -> None:
    loaded = Counted([{"name": f"Config{n}", "params": [_place("head_dim")]} for n in range(3)])
    assert settings(loaded, [_place("mask", "np.ndarray"), _place("key_value")], _ROLE) == {}
    assert loaded.times == 0
