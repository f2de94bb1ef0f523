"""``np.random`` for arrays on a device: NumPy draws on the host, so that seeds hold, and moves."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["build"]

Move = Callable[[Any], Any]
#: Methods that change their argument in place.
_IN_PLACE = frozenset({"shuffle"})


def build(moved: Move, hosted: Move) -> ModuleType:
    """The module.

    Args:
        moved: Brings what NumPy gives to the device.
        hosted: Brings arguments to the host.
    """
    module: Any = _Random()

    class Generator(_Draws):
        """Draws on the host and moves."""

        def __init__(self, source: Any) -> None:
            known = isinstance(source, np.random.Generator)
            super().__init__(source if known else np.random.Generator(source), moved, hosted)

    class RandomState(_Draws):
        """The older generator, likewise."""

        def __init__(self, seed: Any = None) -> None:
            super().__init__(np.random.RandomState(hosted(seed)), moved, hosted)

    module.Generator, module.RandomState = Generator, RandomState
    module.default_rng = lambda seed=None: (
        seed if isinstance(seed, Generator) else Generator(np.random.default_rng(hosted(seed)))
    )
    module.own = {"moved": moved, "hosted": hosted}
    made: ModuleType = module
    return made


class _Random(ModuleType):
    """``np.random``: what draws is wrapped, bit generators and seeds are NumPy's own."""

    def __init__(self) -> None:
        super().__init__("numpy.random", np.random.__doc__)

    def __getattr__(self, name: str) -> Any:
        value = getattr(np.random, name)
        if isinstance(value, (type, ModuleType)) or not callable(value) or name.startswith("__"):
            return value
        own = self.__dict__["own"]
        return _drawing(name, value, own["moved"], own["hosted"])


class _Draws:
    """A generator of NumPy's whose draws are moved."""

    def __init__(self, source: Any, moved: Move, hosted: Move) -> None:
        self._source, self._moved, self._hosted = source, moved, hosted

    def __getattr__(self, name: str) -> Any:
        if name in ("_source", "_moved", "_hosted"):
            # Asked for while a copy is made, before there is anything.
            raise AttributeError(name)
        value = getattr(self._source, name)
        return _drawing(name, value, self._moved, self._hosted) if callable(value) else value


def _drawing(name: str, draw: Callable[..., Any], moved: Move, hosted: Move) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [hosted(value) for value in args]
        result = draw(*given, **{key: hosted(value) for key, value in kwargs.items()})
        if name in _IN_PLACE and args and given[0] is not args[0]:
            args[0][...] = moved(given[0])
        return moved(result)

    call.__name__ = name
    return call
