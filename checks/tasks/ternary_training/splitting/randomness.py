"""Generators of random numbers, and the calls that make and use them."""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass, field

from judge_tui.checks.tasks.ternary_training.figures import words
from judge_tui.checks.tasks.ternary_training.splitting.rows import Drawn, Key

__all__ = ["DRAWS", "GLOBAL", "MADE", "SEEDS", "Generator", "is_named_so"]

#: What makes a generator.
MADE = frozenset({"default_rng", "RandomState", "Random", "Generator", "PCG64"})
#: Methods of generators that are followed.
DRAWS = frozenset({
    "permutation", "permuted", "shuffle", "choice", "integers", "randint", "randrange", "sample", "random",
    "uniform", "rand", "choices", "random_sample",
})  # fmt: skip
#: What begins a generator anew.
SEEDS = frozenset({"seed", "set_state", "setstate"})
#: The generators that a module is.
GLOBAL = frozenset({"np.random", "numpy.random", "random"})
_NAMES = frozenset({"rng", "gen", "generator", "random", "rand", "rs", "prng", "rnd", "rstate"})
_numbers = itertools.count(1)


@dataclass(eq=False, slots=True)
class Generator:
    """A generator, which every draw moves on.

    Attributes:
        source: ``("seed", key)``, ``("fresh", number)`` without a seed, ``("given", key)`` where it is not
            known how it was made, or ``("restored", number)`` where it may go on as another one did.
        number: Of the object.
        count: Draws so far.
    """

    source: tuple[str, Key]
    number: int = field(default_factory=lambda: next(_numbers))
    count: int = 0

    def draw(self) -> Drawn:
        """The next order."""
        self.count += 1
        return Drawn(self.source, self.count, self.number)

    def copied(self) -> Generator:
        """One that goes on as this one does."""
        number = next(_numbers)
        return Generator(("restored", number), number)

    def seeded(self, source: tuple[str, Key]) -> None:
        """Begin anew: another generator in the same place."""
        self.source, self.number, self.count = source, next(_numbers), 0


def is_named_so(node: ast.expr) -> bool:
    """Whether a name or an attribute is called as generators are."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return bool(words(name) & _NAMES)
