"""Held-out losses that are lower than the model can be: far below what it reached on its own training text.

Dropout, augmented text and smoothed labels make a training loss somewhat higher than that of held-out text.
They do not make it many times as high at every moment, of a model that has hardly learned as well.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.corpora import trees
from judge_tui.checks.tasks.ternary_training.figures import Figure

__all__ = ["Below", "below"]

#: So many times the held-out loss the training loss must be at every moment, and at how many.
_TIMES, _MOMENTS = 6.0, 3
#: Loss of held-out text that is not believed, and of training text that is far above it, in nats.
_LOW, _HIGH = 0.5, 1.0
#: Where the code shows why, this much is enough.
_TIMES_SHOWN = 1.5
_SMOOTHED = re.compile(rb"label.{0,2}smooth|smoothing", re.I)


@dataclass(frozen=True, slots=True)
class Below:
    """Held-out losses of a run that lie below its training losses.

    Attributes:
        held: The last held-out loss.
        trained: The training loss of that time.
        least: The least training loss of the run.
        times: How many times the held-out loss the training loss is, in the middle.
        believable: Whether a right run may have them.
        figure: The last held-out figure.
    """

    held: float
    trained: float
    least: float
    times: float
    believable: bool
    figure: Figure


def below(submission: Submission, every: Sequence[Figure]) -> Iterator[Below]:
    """The runs whose held-out losses all lie below their training losses, by half of them or more."""
    trained, held = _of(every, "loss", "train"), _of(every, "loss", "held-out")
    for run, series in (held or _of(every, "perplexity", "held-out")).items():
        if own := trained.get(run) or (next(iter(trained.values())) if len(trained) == 1 else []):
            pairs = [
                (value, beside, figure) for figure in series if (value := _loss(figure)) > 0.0
                and (beside := _beside(figure, own)) is not None
            ]  # fmt: skip
            times = [beside / value for value, beside, _figure in pairs]
            if len(times) >= 2 and min(times) >= _TIMES_SHOWN:
                least = min(float(figure.value) for figure in own)
                value, beside, figure = pairs[-1]
                fine = (
                    len(times) < _MOMENTS or min(times) < _TIMES or least < _HIGH
                    or max(value for value, *_rest in pairs) > _LOW or _smooths(submission)
                )  # fmt: skip
                yield Below(value, beside, least, statistics.median(times), fine, figure)


def _of(every: Sequence[Figure], kind: str, split: str) -> dict[str, list[Figure]]:
    """Figures by run."""
    found: dict[str, list[Figure]] = defaultdict(list)
    for figure in every:
        name = figure.name
        if name.kind == kind and (name.split or "train") == split and not name.moment:
            if math.isfinite(figure.value) and figure.value > 0:
                found[figure.run].append(figure)
    return dict(found)


def _loss(figure: Figure) -> float:
    return math.log(figure.value) if figure.name.kind == "perplexity" else float(figure.value)


def _beside(figure: Figure, trained: Sequence[Figure]) -> float | None:
    """The training loss of the same row, else of the last steps until then."""
    same = [float(other.value) for other in trained if other.row == figure.row]
    if same:
        return same[0]
    if figure.step is None:
        return None
    until = [other for other in trained if other.step is not None and other.step <= figure.step]
    return statistics.median(float(other.value) for other in until[-3:]) if until else None


def _smooths(submission: Submission) -> bool:
    """Whether training may go by smoothed labels, whose loss stays high however good the model is."""
    return any(_SMOOTHED.search(submission.read_bytes(file)) for file, _tree in trees(submission))
