"""Contracts: the roles that a task asks for, by meaning and not by spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from judge_tui.checks.calling.binding import Binding
    from judge_tui.checks.sizes import Sizes
    from judge_tui.checks.timing import Timing

__all__ = ["AVOIDED", "Contract", "Param", "Return", "Role", "Sample", "anything", "normal"]

Kind = Literal["array", "handle", "self", "int", "float", "bool", "dtype", "model", "data", "rng"]


#: Characters of a name that is worth remembering: what a submission says must not fill the engine's memory.
_USUAL = 100


def normal(name: str) -> str:
    """A name as the binder compares it: lower case, letters and digits only (``d_gamma`` = ``dGamma``)."""
    return _remembered(name) if len(name) <= _USUAL else _bare(name)


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


_remembered = lru_cache(1 << 14)(_bare)


@lru_cache(1 << 11)
def _spelled(names: tuple[str, ...]) -> frozenset[str]:
    """The same of several names; a file of thousands of functions asks for those of a role each time."""
    return frozenset(map(normal, names))


def anything(value: Any, inputs: Mapping[str, Any]) -> float:
    """The grade of plain data where any is an answer: what is right is the checks' business."""
    return 1.0


#: Expressions on names of what is no answer: a submission's own truth, and its tests.
AVOIDED: tuple[str, ...] = (
    r"naive",
    r"numerical",
    r"reference",
    r"\bref_",
    r"_ref\b",
    r"(?<![a-z])(?:run_?)?tests?(?![a-z])",
    r"(?<![a-z])(?:grad_?)?check(?![a-z])",
    r"benchmark",
    r"(?<![a-z])demo(?![a-z])",
    r"verify",
    r"plot",
    r"(?<![a-z])main(?![a-z])",
)


@dataclass(frozen=True, slots=True)
class Param:
    """Something that a role takes.

    Attributes:
        name: Canonical name.
        kind: What it is; a ``handle`` is an object that an earlier role gave.
        aliases: Other spellings (compared without case and underscores).
        required: Whether a callable that has no such parameter cannot play the role.
        spare: Handed over only to a callable that has no default of its own, so that the default is judged.
        likely: Expression on names that tell it where one place is left over, else empty.
        unlike: Expression on names of places that never take it, else empty.
        named: Handed over only to a place that its name tells.
    """

    name: str
    kind: Kind = "array"
    aliases: tuple[str, ...] = ()
    required: bool = True
    spare: bool = False
    likely: str = ""
    unlike: str = ""
    named: bool = False

    def means(self, name: str) -> bool:
        """Whether ``name`` is one of the spellings."""
        return normal(name) in _spelled((self.name, *self.aliases))


@dataclass(frozen=True, slots=True)
class Return:
    """Something that a role gives.

    Attributes:
        name: Canonical name.
        kind: ``array`` (fetched with the shape that the sample states), ``handle`` (kept), ``data``, or
            ``self``: the instance whose method plays the role, where there is one.
        aliases: Other spellings, for dict keys, attributes and returned variables; of an attribute in an
            attribute or a key in an attribute the two names together (``grads_gamma``, ``gamma_grad``).
        required: Whether the role is not played without it.
        loose: Whether axes of length one do not matter: (1, D) and (1, 1, D) are taken as (D,); an array in a
            flat buffer, (M · N,) for (M, N), is taken as well.
        whole: Whether a ``handle`` is one array, and no container of several things.
    """

    name: str
    kind: Kind = "array"
    aliases: tuple[str, ...] = ()
    required: bool = True
    loose: bool = False
    whole: bool = False

    def means(self, name: str) -> bool:
        """Whether ``name`` is one of the spellings."""
        return normal(name) in _spelled((self.name, *self.aliases))


@dataclass(frozen=True, slots=True)
class Role:
    """Something that a contract asks for.

    Attributes:
        name: ``forward``, ``backward``, ``search``, …
        params: What it takes, in the contract's order.
        returns: What it gives, in the contract's order.
        patterns: Regular expressions on a callable's name, best first; one with a literal dot is on a class
            and its method, and where it fits no other callable is meant.
        avoid: Expressions on names that are something else (``naive``, ``numerical``, ``test``); a name
            is held against them in lower case, and in lower case with its words apart (``run_test``).
        required: Whether the task cannot be judged without it.
        pure: Whether it must leave its arguments alone and repeat itself.
        agrees: How well plain data that it gave fits the sample's inputs, 0 to 1, for roles whose answer has
            no shape; 0 is an answer of the right kind all the same, :class:`BadResult` none.
        spellings: Ways to hand the same arguments over (an array for a list), in groups, likeliest first;
            only for roles with ``agrees``, whose answer tells which one is meant.
        enough: Grade of ``agrees`` from which no further group is tried.
        styles: How its scripted model may answer, in place of the usual styles (``worker/models.py``).
        sure: How many of the patterns, from the best on, say beyond doubt that a callable is meant.
        by_parameters: Whether a callable that no pattern names may play it by its parameters' names, also
            where its answer has no shape, and the only callable that there is by nothing at all.
        strict: Whether what is not required is told by its names alone: no other place ever takes it.
        sought: What is looked for, as a clause, to be told where nothing is found; empty for nothing to tell.
    """

    name: str
    params: tuple[Param, ...]
    returns: tuple[Return, ...]
    patterns: tuple[str, ...]
    avoid: tuple[str, ...] = AVOIDED
    required: bool = True
    pure: bool = True
    agrees: Callable[[Any, Mapping[str, Any]], float] | None = None
    spellings: Callable[[Binding], Iterable[Sequence[Binding]]] | None = None
    enough: float = 1.0
    styles: tuple[str, ...] = ()
    sure: int = 0
    by_parameters: bool = False
    strict: bool = False
    sought: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A small call of every role, by which a binding is confirmed.

    Attributes:
        inputs: Canonical parameter → value.
        shapes: Canonical returned array → shape.
        truths: Canonical returned array → its value, for arrays that shapes do not tell apart; only used
            where nothing in the source names them.
    """

    inputs: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    truths: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contract:
    """What a submission for a task was asked to deliver.

    Attributes:
        roles: In the order in which they are bound; a later one may take what an earlier one gave.
        sample: Makes the probe's inputs.
        text: The contract in one sentence.
        find: Binds what is not written by hand, for contracts whose roles can only be told together; takes a
            :class:`judge_tui.checks.binding.solver.Search`.
        layouts: Layouts (see :mod:`judge_tui.checks.calling.layouts`) that are tried, in this order, on a
            submission that does not answer to arrays in the contract's own axes.
        timing: What the generic check ``throughput`` calls; ``None`` where no single call is worth timing.
        frameworks: Modules that the challenge leaves open: a submission built on one that is not installed
            cannot be run here, which is nobody's failure.
        packages: Further modules that a submission may import, where they are installed.
        otherwise: The same asked for in another way, with roles of the same names, or some of them: it counts
            where more of them are found so. May have another way of its own.
        leave: Ends what the contract has running of its own; called by a thread that judged by it.
        seeded: What random generators of the whole process are seeded with before each call of a function or
            class, so that who draws weights draws those that a reference draws; ``None`` leaves them alone.
        sized: The sample in sizes that are drawn, for checks that call every role and know of no sizes;
            ``None`` where the sample is all that there is.
    """

    roles: tuple[Role, ...]
    sample: Callable[[np.random.Generator], Sample]
    text: str = ""
    find: Callable[[Any], None] | None = None
    layouts: tuple[str, ...] = ()
    timing: Timing | None = None
    frameworks: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    otherwise: Contract | None = None
    leave: Callable[[], None] = lambda: None
    seeded: int | None = None
    sized: Callable[[np.random.Generator, Sizes], Sample] | None = None
    by_name: Mapping[str, Role] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {role.name: role for role in self.roles})
