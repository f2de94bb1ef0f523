"""Lists and dicts that have attributes too: what stands for an instance of a submission's own subclass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["AttributedDict", "AttributedList", "attributed", "attributes_of"]


class AttributedList(list[Any]):
    """A list with attributes.

    Attributes:
        attributes: Name → plain data; ``value["name"]`` gives one as well.
    """

    attributes: Mapping[str, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        """An item by its index, or an attribute by its name."""
        return self.attributes[key] if isinstance(key, str) else super().__getitem__(key)


class AttributedDict(dict[str, Any]):
    """A dict with attributes.

    Attributes:
        attributes: Name → plain data; ``value["name"]`` gives one where there is no such key.
    """

    attributes: Mapping[str, Any] = {}

    def __missing__(self, key: str) -> Any:
        """The attribute of that name."""
        return self.attributes[key]


def attributed(items: Any, attributes: Mapping[str, Any]) -> AttributedList | AttributedDict:
    """Items with attributes.

    Raises:
        ValueError: The items are no list or dict, or the attributes no dict.
    """
    if not isinstance(items, (list, dict)) or not isinstance(attributes, dict):
        raise ValueError(f"attributes beside a {type(items).__name__}")
    made = AttributedList(items) if isinstance(items, list) else AttributedDict(items)
    made.attributes = attributes
    return made


def attributes_of(value: Any) -> Mapping[str, Any]:
    """The attributes of plain data; none where it is of no class of its own."""
    return value.attributes if isinstance(value, (AttributedList, AttributedDict)) else {}
