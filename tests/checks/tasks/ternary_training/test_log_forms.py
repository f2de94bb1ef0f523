"""Logs in all the forms in which losses are written: a step, a time or another quantity is never a loss."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.figures import Figure
from judge_tui.checks.tasks.ternary_training.logs.files import figures

COUNT = 24
LOSSES = [round(1.2 + 2.2 / (1 + n / 4) + 0.03 * (-1) ** n, 4) for n in range(COUNT)]
STEPS = [10 * (n + 1) for n in range(COUNT)]
TIMES = [1.7e9 + 3.25 * n for n in range(COUNT)]
RATES = [round(3e-4 * (1 - n / COUNT), 8) for n in range(COUNT)]
Row = tuple[int, float, float, float]
ROWS: list[Row] = list(zip(STEPS, LOSSES, TIMES, RATES, strict=True))


def read(folder: Path, name: str, text: str) -> list[Figure]:
    (folder / name).write_text(text)
    return figures(Submission.at(folder))


def told(folder: Path, name: str, text: str) -> list[float]:
    """Losses of the curve that a log holds, in their order."""
    return [float(f.value) for f in read(folder, name, text) if f.name.kind == "loss" and not f.name.moment]


def lines(each: Callable[[int, float, float, float], Any], rows: Iterable[Row] = ROWS) -> str:
    return "".join(f"{each(*row)}\n" for row in rows)


DOCUMENTS: dict[str, Any] = {
    "records": {"loss": [{"step": s, "loss": v} for s, v, _, _ in ROWS]},
    "records of many fields": {
        "losses": [
            {"iter": s, "loss": v, "lr": r, "time": t, "tokens": 512 * s, "grad_norm": 1.5}
            for s, v, t, r in ROWS
        ]
    },
    "records of values": {"train_loss": [{"step": s, "value": v} for s, v, _, _ in ROWS]},
    "records of means": {"loss": [{"epoch": s, "mean": v, "std": 0.2, "count": 64} for s, v, _, _ in ROWS]},
    "points": {"loss": [{"x": s, "y": v} for s, v, _, _ in ROWS]},
    "fields that nobody knows": {"loss": [{"when": s, "what": v} for s, v, _, _ in ROWS]},
    "columns": {"loss": {"step": STEPS, "value": LOSSES}},
    "columns and settings": {"loss": {"history": LOSSES, "steps": STEPS, "every": 10, "smoothing": 0.9}},
    "columns named after the loss": {"loss": LOSSES, "loss_steps": STEPS, "loss_times": TIMES},
    "abscissa and ordinate": {"loss_x": STEPS, "loss_y": LOSSES},
    "pairs": {"loss": [[s, v] for s, v, _, _ in ROWS]},
    "pairs, the loss first": {"loss": [[v, s] for s, v, _, _ in ROWS]},
    "rows of three": {"train/loss": [[t, s, v] for s, v, t, _ in ROWS]},
    "rows with a rate": {"loss": [[s, v, r] for s, v, _, r in ROWS]},
    "two lists": {"loss": [STEPS, LOSSES]},
    "map by step": {"loss": {str(s): v for s, v, _, _ in ROWS}},
    "map by named step": {"loss": {f"step_{s}": v for s, v, _, _ in ROWS}},
    "map of records": {"loss": {str(s): {"loss": v, "lr": r} for s, v, _, r in ROWS}},
    "columns by index": {
        "step": {str(n): s for n, s in enumerate(STEPS)}, "loss": {str(n): v for n, v in enumerate(LOSSES)},
    },
    "head and rows": {"columns": ["step", "loss", "lr"], "data": [[s, v, r] for s, v, _, r in ROWS]},
    "names as text": [
        {"key": key, "value": value, "timestamp": t, "step": s}
        for s, v, t, r in ROWS
        for key, value in (("loss", v), ("lr", r))
    ],
    "numbers as text": {"loss": [{"step": str(s), "loss": str(v)} for s, v, _, _ in ROWS]},
    "lists of a run": {"runs": [{"name": "ternary", "step": STEPS, "train_loss": LOSSES}]},
    "lists of epochs": [{"epoch": n, "batch_losses": LOSSES[6 * n : 6 * n + 6]} for n in range(4)],
    "steps beside both parts": {"steps": STEPS, "losses": {"train": LOSSES}},
    "epochs of batches": {"loss": [LOSSES[n : n + 4 + n // 8] for n in (0, 4, 8, 13, 18)]},
}  # fmt: skip


@pytest.mark.parametrize("form", DOCUMENTS)
def test_only_losses_of_a_document_are_losses(form: str, tmp_path: Path) -> None:
    wanted = LOSSES
    if form == "epochs of batches":
        wanted = [v for batch in DOCUMENTS[form]["loss"] for v in batch]
    assert told(tmp_path, "log.json", json.dumps(DOCUMENTS[form])) == wanted


NAMED_BY_THEIR_FILE: dict[str, Any] = {
    "pairs": [[s, v] for s, v, _, _ in ROWS],
    "rows of three": [[t, s, v] for s, v, t, _ in ROWS],
    "records": [{"step": s, "value": v, "wall_time": t} for s, v, t, _ in ROWS],
    "map by step": {str(s): v for s, v, _, _ in ROWS},
    "columns": {"steps": STEPS, "values": LOSSES},
    "list": LOSSES,
}


@pytest.mark.parametrize("form", NAMED_BY_THEIR_FILE)
def test_a_document_is_named_by_its_file_where_nothing_else_names_it(form: str, tmp_path: Path) -> None:
    text = json.dumps(NAMED_BY_THEIR_FILE[form])
    assert told(tmp_path, "train_losses.json", text) == LOSSES


TEXTS: dict[str, tuple[str, str]] = {
    "records a line": (
        "log.jsonl",
        lines(lambda s, v, t, r: json.dumps({"step": s, "loss": v, "lr": r, "time": t})),
    ),
    "nested a line": (
        "log.jsonl",
        lines(lambda s, v, t, r: json.dumps({"loss": {"step": s, "value": v, "lr": r}})),
    ),
    "own name nested": (
        "a.jsonl",
        lines(lambda s, v, t, r: json.dumps({"loss": {"tokens": 3 * s, "loss": v}})),
    ),
    "lists a line": ("loss.jsonl", lines(lambda s, v, t, r: json.dumps([s, v]))),
    "Python's spelling": ("train.log", lines(lambda s, v, t, r: {"loss": v, "learning_rate": r, "step": s})),
    "record behind words": (
        "train.log",
        lines(lambda s, v, t, r: f"INFO metrics {json.dumps({'step': s, 'loss': v})}"),
    ),
    "CSV": ("log.csv", "step,loss,lr,time\n" + lines(lambda s, v, t, r: f"{s},{v},{r},{t}")),
    "CSV, words beside": (
        "log.csv",
        "loss_step,loss_value,loss_lr\n" + lines(lambda s, v, t, r: f"{s},{v},{r}"),
    ),
    "CSV, named by its file": (
        "tag-loss.csv",
        "Wall time,Step,Value\n" + lines(lambda s, v, t, r: f"{t},{s},{v}"),
    ),
    "CSV without a head": ("loss.csv", lines(lambda s, v, t, r: f"{s},{v}")),
    "CSV of names as text": (
        "log.csv",
        "step,metric,value\n" + lines(lambda s, v, t, r: f"{s},lr,{r}\n{s},train_loss,{v}"),
    ),
    "Markdown": (
        "log.md",
        "| loss step | loss value |\n|---|---|\n" + lines(lambda s, v, t, r: f"| {s} | {v} |"),
    ),
    "columns between spaces": (
        "a.txt",
        "# step  loss  lr\n" + lines(lambda s, v, t, r: f"{s:5d} {v:8.4f}  {r}"),
    ),
    "numbers alone": ("loss.txt", lines(lambda s, v, t, r: v)),
    "numbers in columns": ("loss.txt", lines(lambda s, v, t, r: f"{s}  {v}")),
    "step behind the word": ("train.log", lines(lambda s, v, t, r: f"loss {s}: {v}")),
    "step of all": ("train.log", lines(lambda s, v, t, r: f"train loss {s}/240 {v}")),
    "subscript": ("train.log", lines(lambda s, v, t, r: f"loss[{s}] = {v}")),
    "step in brackets": ("train.log", lines(lambda s, v, t, r: f"Loss (step {s}): {v}")),
    "loss at a step": ("train.log", lines(lambda s, v, t, r: f"loss at step {s}: {v}, lr {r}")),
    "step and value": ("train.log", lines(lambda s, v, t, r: f"loss step={s} value={v} lr={r}")),
    "pair in text": ("train.log", lines(lambda s, v, t, r: f"loss: ({s}, {v})")),
    "list in text": ("train.log", f"done\nlosses: {LOSSES}\n"),
    "list of pairs in text": ("train.log", f"losses = {[(s, v) for s, v, _, _ in ROWS]}\n"),
}


@pytest.mark.parametrize("form", TEXTS)
def test_only_losses_of_a_text_are_losses(form: str, tmp_path: Path) -> None:
    assert told(tmp_path, *TEXTS[form]) == LOSSES


@pytest.mark.parametrize(
    "form", ["step behind the word", "subscript", "loss at a step", "pair in text", "CSV"]
)
def test_steps_are_read_as_steps(form: str, tmp_path: Path) -> None:
    assert [figure.step for figure in read(tmp_path, *TEXTS[form])] == STEPS


@pytest.mark.parametrize(
    "form", ["records", "columns", "pairs, the loss first", "rows of three", "map by step"]
)
def test_steps_of_a_document_are_read_as_steps(form: str, tmp_path: Path) -> None:
    assert [figure.step for figure in read(tmp_path, "log.json", json.dumps(DOCUMENTS[form]))] == STEPS


def test_settings_that_are_compared_are_no_steps(tmp_path: Path) -> None:
    by_size = {"loss": {"32": 3.1, "64": 3.0, "128": 2.9, "256": 3.2, "512": 3.3}}
    table = [{"group_size": 32 << n, "loss": 3.0 + n / 10} for n in range(6)]
    for value in (by_size, table):
        assert all(f.step is None for f in read(tmp_path, "log.json", json.dumps(value)) if not f.name.moment)


def test_when_a_loss_was_best_is_no_loss(tmp_path: Path) -> None:
    value = {"best_val_loss_step": 1200, "best_val_ppl": 3.9, "final_loss_epoch": 5, "final_loss": 1.3}
    assert [float(figure.value) for figure in read(tmp_path, "log.json", json.dumps(value))] == [3.9, 1.3]


def test_what_of_several_numbers_is_the_loss_is_not_guessed(tmp_path: Path) -> None:
    rows = [[s, v / 10, v] for s, v, _, _ in ROWS]
    assert not told(tmp_path, "log.json", json.dumps({"loss": rows}))


def test_a_list_in_a_file_of_another_name_is_no_loss(tmp_path: Path) -> None:
    assert not read(tmp_path, "weights.json", json.dumps(LOSSES))


def test_text_beside_a_loss_says_of_which_part_it_is(tmp_path: Path) -> None:
    text = "".join(
        json.dumps({"split": part, "step": s, "loss": v}) + "\n" for s, v, _, _ in ROWS for part in "ab"
    )
    text = text.replace('"a"', '"train"').replace('"b"', '"val"')
    found = read(tmp_path, "log.jsonl", text)
    assert [figure.name.split for figure in found] == ["train", "held-out"] * COUNT


def test_losses_by_step_that_fall_in_whole_numbers_stay_losses(tmp_path: Path) -> None:
    assert told(tmp_path, "log.json", json.dumps({"loss": [9, 8, 6, 5, 4, 3, 3]})) == [9, 8, 6, 5, 4, 3, 3]
    assert told(tmp_path, "log.json", json.dumps({"loss": [[1, 9], [2, 9], [3, 9]]})) == [9, 9, 9]
