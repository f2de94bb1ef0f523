"""Held-out losses that no run can have, and the code that makes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.believable import Below, below
from judge_tui.checks.tasks.ternary_training.divided import divided
from judge_tui.checks.tasks.ternary_training.logs.files import figures


def submitted(folder: Path, code: str, rows: Sequence[object] = ()) -> Submission:
    """A submission of one file, with its log."""
    place = folder / "somebody" / "ternary_training"
    place.mkdir(parents=True)
    (place / "ternary.py").write_text(code)
    (place / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return Submission.at(place)


LOOP = "def evaluate(model, batches, n):\n    total = 0.0\n    for x in batches:\n{body}    return total\n"


@pytest.mark.parametrize(
    "body",
    ["        total += model(x)\n        total /= n\n",
     "        total = total + model(x)\n        total = total / len(batches)\n",
     "        with quiet():\n            total += model(x)\n            total /= n\n",
     "        for y in x:\n            total += model(y)\n        total /= n\n"],
)  # fmt: skip
def test_a_sum_that_is_divided_within_its_loop_is_found(body: str, tmp_path: Path) -> None:
    code = LOOP.format(body=body)
    (found,) = divided(submitted(tmp_path, code))
    (line,) = (number for number, text in enumerate(code.split("\n"), 1) if "/" in text)
    assert (found.name, found.line) == ("total", line)


@pytest.mark.parametrize(
    "body",
    ["        total += model(x) / n\n", "        total += model(x)\n    total /= n\n",
     "        total *= n\n        total += model(x)\n        total /= n + 1\n",
     "        total += model(x)\n        if x is batches[-1]:\n            total /= n\n",
     "        total += model(x)\n        total /= 2\n",
     "        total = 0.0\n        for y in x:\n            total += model(y)\n        total /= n\n",
     "        total += model(x)\n        total /= n\n        break\n"],
)  # fmt: skip
def test_means_of_other_forms_are_left_alone(body: str, tmp_path: Path) -> None:
    assert not list(divided(submitted(tmp_path, LOOP.format(body=body))))


def test_a_sum_of_training_losses_is_left_alone(tmp_path: Path) -> None:
    code = LOOP.format(body="        total += model(x)\n        total /= n\n").replace(
        "evaluate", "train_epoch"
    )
    assert not list(divided(submitted(tmp_path, code)))


def of_log(folder: Path, trained: Sequence[float], held: Sequence[float], code: str = "") -> list[Below]:
    """What is found about a run with these losses."""
    rows = [
        {"step": i, "train_loss": t, "val_loss": h}
        for i, (t, h) in enumerate(zip(trained, held, strict=True))
    ]
    submission = submitted(folder, code, rows)
    return list(below(submission, figures(submission)))


FALLS = (3.4, 2.6, 2.1, 1.8, 1.7)


def test_a_held_out_loss_near_zero_beside_a_high_training_loss_is_not_believed(tmp_path: Path) -> None:
    (found,) = of_log(tmp_path, FALLS, [loss / 30 for loss in FALLS])
    assert (found.believable, found.least, round(found.times)) == (False, 1.7, 30)


@pytest.mark.parametrize(
    ("trained", "held"),
    [
        # the model had learned little before its first held-out loss, and all of the text by its last
        (FALLS, (3.3, 1.1, 0.2, 0.1, 0.05)),
        # memorised by the time of the second
        ((3.4, 0.1, 0.05, 0.04, 0.03), (0.3, 0.01, 0.008, 0.006, 0.004)),
        # sums of a batch
        ([64 * loss for loss in FALLS], FALLS),
        # two moments are few
        (FALLS[:2], (0.1, 0.08)),
    ],
)
def test_held_out_losses_that_may_be_right_are_believed(
    trained: Sequence[float], held: Sequence[float], tmp_path: Path
) -> None:
    assert all(found.believable for found in of_log(tmp_path, trained, held))


def test_smoothed_labels_keep_a_training_loss_high(tmp_path: Path) -> None:
    code = "def loss(p, y, label_smoothing=0.2):\n    return cross_entropy(p, smooth(y, label_smoothing))\n"
    (found,) = of_log(tmp_path, FALLS, [loss / 30 for loss in FALLS], code)
    assert found.believable
