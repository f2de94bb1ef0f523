"""Which columns of a table are losses and perplexities: by names, by what stands above, by numbers.

In ``{"loss": [{"step": 1, "loss": 3.4}, …]}`` every field stands under "loss"; only one is a loss.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence

from judge_tui.checks.tasks.ternary_training.figures import Name, counts, says_only_which

__all__ = ["HERE", "MANY", "VALUES", "Keys", "advances", "measured", "named", "stepping", "whole"]

Keys = tuple[str, ...]
#: The name of a column that is what stands above it.
HERE = ""
#: Names of what is measured, the likeliest first, where a name above them says what it is.
VALUES = (
    HERE, "value", "values", "v", "y", "ys", "scalar", "mean", "avg", "average", "nats", "median", "raw",
    "data", "history", "curve",
)  # fmt: skip
#: Numbers from here on are times since 1970, and no losses.
_TIMES = 1e8
_FEW = 3
#: Numbers alone are steps where there are so many.
MANY = 20
#: So many numbers at one distance are a ramp, whatever their name is.
_RAMP = 5
#: Losses of text are larger than this somewhere, learning rates and momenta are not.
_SMALL = 0.1


def named(path: Keys, columns: Mapping[Keys, Sequence[float]], *, inherit: bool = True) -> dict[Keys, Name]:
    """What the columns of a table are that hold a loss or a perplexity.

    Args:
        path: Keys above the table.
        columns: Numbers under the keys within a row.
        inherit: Whether a column may be a loss because of the keys above it alone; where not, only one may
            that says of which text or moment it is.
    """
    found: dict[Keys, Name] = {}
    groups: dict[Keys, list[Keys]] = defaultdict(list)
    for keys in columns:
        groups[keys[:-1]].append(keys)
    for parent, group in groups.items():
        own = [keys for keys in group if _measures((keys[-1],)) and not _only_counts(keys[-1], columns[keys])]
        taken = own + _inheriting(
            (*path, *parent), group, columns, alone=not own and (inherit or bool(parent))
        )
        found |= {keys: Name.of((*path, *keys)) for keys in taken if _measures((*path, *keys))}
    return found


def stepping(columns: Mapping[Keys, Sequence[float]], taken: Mapping[Keys, Name]) -> Keys | None:
    """The column that says where in training a row is; ``None`` where none does."""
    left = [keys for keys in columns if keys not in taken]
    for kind in ("step", "epoch"):
        for keys in left:
            if Name.of(keys).kind == kind:
                return keys
    # Few whole numbers may be settings that are compared.
    index = [keys for keys in left if _is_index(columns[keys])]
    named = (keys for keys in index if counts(keys[-1]) or len(columns[keys]) >= MANY)
    return next(named, None)


def measured(rows: Sequence[Sequence[float]]) -> tuple[int | None, int] | None:
    """Which numbers of rows without names count, and which are measured; ``None`` where that cannot be told.

    Args:
        rows: All of one length, 2 at least: ``[step, loss]``, ``[time, step, value]``.
    """
    columns = list(zip(*rows, strict=True))
    indices = [at for at, column in enumerate(columns) if _is_index(column)]
    # Steps rather than times.
    index = min(indices, key=lambda at: min(columns[at]) > _TIMES, default=None)
    left = [at for at, column in enumerate(columns) if not advances(column)]
    varied = [at for at in left if len(set(columns[at])) > 1] or left
    large = [at for at in varied if max(map(abs, columns[at])) >= _SMALL] or varied
    if len(large) > 1 and len(columns) > 2:
        return None
    value = large[-1] if large else len(columns) - 1
    if index is None or index == value:
        index = next((at for at in range(len(columns)) if at != value and advances(columns[at])), None)
    return (0 if index is None and len(columns) == 2 and value == 1 else index), value


def whole(column: Sequence[float]) -> bool:
    """Whether all are whole numbers, and none is negative."""
    return all(number >= 0 and float(number).is_integer() for number in column)


def advances(column: Sequence[float]) -> bool:
    """Whether numbers only ever rise, and do."""
    rising = all(after >= before for before, after in itertools.pairwise(column))
    return len(column) > 1 and rising and column[-1] > column[0]


def _measures(keys: Keys) -> bool:
    return Name.of(keys).kind in ("loss", "perplexity")


def _only_counts(name: str, column: Sequence[float]) -> bool:
    """Whether a column that is named after a loss is its abscissa: ``loss_steps``, ``loss_x``."""
    if counts(name) and whole(column) and (len(column) == 1 or advances(column)):
        return True
    return len(column) >= _RAMP and whole(column) and _is_ramp(column)


def _is_ramp(column: Sequence[float]) -> bool:
    step = column[1] - column[0]
    return step > 0 and all(b - a == step for a, b in itertools.pairwise(column))


def _is_index(column: Sequence[float]) -> bool:
    """Whether numbers without a name count: whole ones that rise, or times."""
    if len(column) < _FEW or not advances(column):
        return False
    return whole(column) or min(column) > _TIMES


def _inheriting(
    above: Keys, group: Sequence[Keys], columns: Mapping[Keys, Sequence[float]], *, alone: bool
) -> list[Keys]:
    """Columns that are what the keys above them say: ``value``, ``train``, names of runs.

    Args:
        above: The keys above.
        group: Columns side by side.
        columns: Their numbers.
        alone: Whether none of them says itself that it is a loss, or is a setting of one.
    """
    if not above or not _measures(above):
        return []
    others = [keys for keys in group if not _measures((keys[-1],)) and _measures((*above, keys[-1]))]
    left = [keys for keys in others if not (counts(keys[-1]) and whole(columns[keys]))]
    splits = [keys for keys in left if says_only_which(keys[-1]) and keys[-1] != HERE]
    if not alone:
        return splits
    value = next((keys for name in VALUES for keys in left if keys[-1].lower() == name), None)
    if value is not None:
        return [value, *(keys for keys in splits if keys != value)]
    return [keys for keys in left if not _is_index(columns[keys])] or left
