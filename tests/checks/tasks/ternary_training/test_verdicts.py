"""What the checks say of ternary training: causes, refusals, frameworks, and logs of every sort."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training import TASK
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
#: Checks of this task; the generic ones have tests of their own.
LAYER, RUN = ("projection", "ste"), ("convergence",)
ANOTHER_SEED = 4


def judged(place: Path, checks: tuple[str, ...], folder: Path, seed: int = 20251) -> dict[str, Outcome]:
    """Outcomes of one file or folder as the submission of some model."""
    submitted = folder / "somebody" / "ternary_training"
    submitted.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.copytree(place, submitted, dirs_exist_ok=True)
    else:
        shutil.copy(place, submitted / place.name)
    return judge(TASK, Submission.at(submitted), seed=seed, checks=checks)


def written(folder: Path, files: dict[str, str], *checks: str) -> dict[str, Outcome]:
    """Outcomes of a submission that a test writes."""
    place = folder / "written"
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return judged(place, checks, folder)


@pytest.mark.parametrize("name", ["two_levels", "truncated", "through_the_scale", "plain_functions"])
def test_another_seed_gives_the_same_verdicts(name: str, tmp_path: Path) -> None:
    (place,) = HERE.glob(f"*/{name}.py")
    first, again = (
        judged(place, LAYER, tmp_path / str(seed), seed=seed) for seed in (ANOTHER_SEED, ANOTHER_SEED + 1)
    )
    assert {c: o.verdict for c, o in first.items()} == {c: o.verdict for c, o in again.items()}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("max_scale", "max|W|"),
        ("one_scale_for_all", "one scale for the whole matrix"),
        ("groups_of_64", "groups of 64"),
        ("padding_in_the_mean", "padding zeros"),
        ("zero_groups_divide", "all-zero group"),
        ("never_projected", "nothing is projected"),
        ("two_levels", "no weight becomes 0"),
        ("levels_over_their_scale", "levels are divided by their scale"),
        ("truncated", "change at 1·s"),
        ("scale_kept_through_steps", "s = mean|W| is that of the weights before"),
        ("projected_before_the_step", "one update behind"),
        ("cut_before_it_is_projected", "the latent weights cut to ±0.75"),
        ("centred_before_it_is_projected", "less the mean of their row"),
        ("standardised_before_it_is_projected", "over their standard deviation"),
        ("scale_of_the_group_before", "from group 1 of a row on, each group has the scale of the one before"),
        (
            "scales_of_the_first_three_groups",
            "from group 3 of a row on, each group has the scale of group g % 3",
        ),
        ("columns_not_renewed_by_evaluation", "with an evaluation between"),
    ],
)
def test_the_summary_names_what_the_projection_does_instead(name: str, told: str, tmp_path: Path) -> None:
    outcome = judged(HERE / "mutants" / f"{name}.py", ("projection",), tmp_path)["projection"]
    assert told in outcome.summary


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("clipped_estimator", "|W| > s get none"),
        ("through_the_scale", "through the scale"),
        ("no_straight_through", "only what comes through the scale"),
        ("gradient_times_scale", "multiplied by the scale"),
        ("input_through_latent", "through the latent weights"),
        ("divided_by_the_batch", "number of rows"),
        ("learns_before_its_gradient", "its own update has changed already"),
        ("signs_of_the_gradient", "its signs alone come through"),
        ("gradient_cut_at_one", "cut to ±1"),
        ("gradient_of_unit_rows", "each row of it is brought to length 1"),
        ("decay_in_the_gradient", "0.01 times the latent weights are added to it"),
    ],
)
def test_the_summary_names_what_the_gradient_is_instead(name: str, told: str, tmp_path: Path) -> None:
    outcome = judged(HERE / "mutants" / f"{name}.py", ("ste",), tmp_path)["ste"]
    assert told in outcome.summary


FLAT = """
import numpy as np
def ternary_linear(x, w, b):
    s = {scale}
    wq = s * {levels}
    return x @ wq.T + b, (x, wq)
def ternary_linear_backward(dy, cache):
    x, wq = cache
    return dy @ wq, dy.T @ x, dy.sum(0)
"""
SCALE = (
    "np.concatenate([np.abs(w[:, i:i+128]).mean(1, keepdims=True).repeat("
    "min(128, w.shape[1] - i), 1) for i in range(0, w.shape[1], 128)], 1)"
)


def test_another_known_threshold_is_ambiguous_and_no_failure(tmp_path: Path) -> None:
    text = FLAT.format(scale=SCALE, levels="np.sign(w) * (np.abs(w) > 0.7 * s)")
    outcome = written(tmp_path, {"layer.py": text}, "projection")["projection"]
    assert (outcome.verdict, "0.7·s" in outcome.summary) == (Verdict.AMBIGUOUS, True), outcome.summary


def test_a_layer_that_says_it_takes_no_ragged_groups_warns(tmp_path: Path) -> None:
    text = FLAT.format(scale=SCALE, levels="np.clip(np.round(w / np.maximum(s, 1e-12)), -1, 1)")
    refusing = text.replace("    s =", "    assert w.shape[1] % 128 == 0, 'multiple of 128'\n    s =")
    outcomes = written(tmp_path, {"layer.py": refusing}, *LAYER)
    assert outcomes["projection"].verdict is Verdict.WARN, outcomes["projection"].summary
    assert "refuses ragged groups" in outcomes["projection"].summary
    assert outcomes["ste"].verdict is Verdict.PASS


def test_a_layer_that_breaks_on_ragged_groups_fails(tmp_path: Path) -> None:
    grouped = "np.abs(w.reshape(len(w), -1, 128)).mean(2).repeat(128, 1)"
    text = FLAT.format(scale=grouped, levels="np.clip(np.round(w / np.maximum(s, 1e-12)), -1, 1)")
    outcome = written(tmp_path, {"layer.py": text}, "projection")["projection"]
    assert (outcome.verdict, "(ragged (" in outcome.summary) == (Verdict.FAIL, True), outcome.summary


def test_another_default_group_size_warns_where_128_is_right_when_told(tmp_path: Path) -> None:
    text = FLAT.format(scale=SCALE.replace("128", "g"), levels="np.clip(np.round(w / (s + 1e-12)), -1, 1)")
    text = text.replace("(x, w, b)", "(x, w, b, g=32)").replace("(g, w", "(128, w")
    outcome = written(tmp_path, {"layer.py": text}, "projection")["projection"]
    assert (outcome.verdict, outcome.summary) == (Verdict.WARN, "default group size: 32")


def test_a_plain_layer_without_a_projection_is_unbound(tmp_path: Path) -> None:
    text = "def linear(x, w, b):\n    return x @ w.T + b\n"
    outcome = written(tmp_path, {"layer.py": text}, "projection")["projection"]
    assert outcome.verdict is Verdict.UNBOUND, outcome.summary


def test_a_framework_that_is_not_installed_is_named_and_its_log_is_still_judged(tmp_path: Path) -> None:
    code = (
        "import mlx.core as mx\nimport mlx.nn as nn\n\n\nclass TernaryLinear(nn.Linear):\n"
        "    def __call__(self, x):\n        return x @ self.weight.T\n"
    )
    log = "\n".join(f"step {i} loss {5.0 - 0.1 * i:.3f} val_loss {5.2 - 0.1 * i:.3f}" for i in range(20))
    outcomes = written(tmp_path, {"ternary.py": code, "train.log": log}, *LAYER, *RUN)
    for check in LAYER:
        assert (outcomes[check].verdict, "mlx" in outcomes[check].summary) == (Verdict.SKIP, True), check
    assert outcomes["convergence"].verdict is Verdict.PASS


REFRESHED = """
import numpy as np
from dataclasses import dataclass
@dataclass
class Config:
    width: int
    out: int
class TernaryLinear:
    def __init__(self, width, out):
        self.latent = np.random.randn(out, width)
        self.bias = np.zeros(out)
        self.refresh()
    def refresh(self):
        w = self.latent
        self.w_q = np.zeros_like(w)
        for j in range(0, w.shape[1], 128):
            s = np.abs(w[:, j:j+128]).mean(1, keepdims=True)
            self.w_q[:, j:j+128] = np.clip(np.round(w[:, j:j+128] / (s + 1e-10)), -1, 1) * s
    def forward(self, x):
        self.x = x
        return x @ self.w_q.T + self.bias
    def backward(self, dy):
        self.dlatent, self.dbias = dy.T @ self.x, dy.sum(0)
        return dy @ self.w_q
"""
ADAPTER = """
from layer import TernaryLinear
def forward(x, weight, bias):
    layer = TernaryLinear(weight.shape[1], weight.shape[0])
    layer.latent, layer.bias = weight, bias
    layer.refresh()
    return layer.forward(x), layer
def backward(dy, cache):
    dx = cache.backward(dy)
    return dx, cache.dlatent, cache.dbias
"""


def test_a_layer_that_projects_after_a_step_is_unbound_until_an_adapter_says_how(tmp_path: Path) -> None:
    checks = ("purity", *LAYER)
    alone = written(tmp_path / "a", {"layer.py": REFRESHED}, *checks)
    assert all(alone[check].verdict is Verdict.UNBOUND for check in LAYER), alone
    assert "weights that are not those which were set on it" in alone["projection"].summary
    assert alone["purity"].verdict is not Verdict.FAIL
    told = written(tmp_path / "b", {"layer.py": REFRESHED, "adapter.py": ADAPTER}, *checks)
    assert all(outcome.verdict is Verdict.PASS for outcome in told.values()), told


def test_a_layer_that_normalises_its_input_is_judged_by_its_projection_alone(tmp_path: Path) -> None:
    inside = FLAT.format(scale=SCALE, levels="np.clip(np.round(w / np.maximum(s, 1e-12)), -1, 1)")
    inside = inside.replace("    s =", "    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)\n    s =")
    outcomes = written(tmp_path, {"layer.py": inside}, *LAYER)
    assert {o.verdict for o in outcomes.values()} == {Verdict.UNBOUND}
    assert all("not linear in its input" in o.summary for o in outcomes.values())


def test_no_log_and_single_figures_are_skipped_with_the_reason(tmp_path: Path) -> None:
    code = "import numpy as np\n"
    none = written(tmp_path / "a", {"t.py": code}, "convergence")["convergence"]
    single = written(tmp_path / "b", {"t.py": code, "r.json": '{"final_val_loss": 2.0}'}, "convergence")
    assert (none.verdict, "t.py" in none.summary) == (Verdict.SKIP, True)
    assert (single["convergence"].verdict, "no loss curve" in single["convergence"].summary) == (
        Verdict.SKIP,
        True,
    )


@pytest.mark.parametrize("framework", ["mlx", "torch"])
def test_imports_of_a_framework_that_is_not_installed_are_nobodys_failure(
    framework: str, tmp_path: Path
) -> None:
    code = f"import {framework}.nn as nn\n\n\nclass TernaryLinear(nn.Linear):\n    pass\n"
    outcome = written(tmp_path, {"ternary.py": code}, "loads")["loads"]
    assert (outcome.verdict, framework in outcome.summary) == (Verdict.SKIP, True), outcome.summary


FALLING = [5.5 - 0.3 * i + 0.02 * (-1) ** i for i in range(10)]
LOG = "\n".join(f"step {100 * i} train loss {v:.4f} val loss {v + 0.1:.4f}" for i, v in enumerate(FALLING))
CODE = {"ternary.py": "import numpy as np\n"}


def of_run(folder: Path, **files: str) -> Outcome:
    """What is found about a run that left these files; ``__`` in a name is a dot."""
    named = {name.replace("__", "."): text for name, text in files.items()}
    return written(folder, {**CODE, **named}, "convergence")["convergence"]


def test_a_table_of_settings_is_no_loss_curve(tmp_path: Path) -> None:
    rows = "".join(f"| group {g} | {2.3 + g / 1000:.3f} |\n" for g in (32, 64, 128, 256, 512, 1024))
    outcome = of_run(tmp_path, README__md=f"| setting | train loss |\n|---|---|\n{rows}", train__log=LOG)
    assert outcome.verdict is Verdict.PASS, outcome.summary
    alone = of_run(tmp_path / "alone", README__md=f"| setting | train loss |\n|---|---|\n{rows}")
    assert alone.verdict is not Verdict.FAIL, alone.summary


def test_steps_that_every_epoch_counts_anew_are_one_curve(tmp_path: Path) -> None:
    first = "\n".join(
        f"epoch 0 step {i} loss {5.5 - 0.3 * i:.3f} val_loss {6 - 0.3 * i:.3f}" for i in range(10)
    )
    rest = "\n".join(
        f"epoch {e} step {i} loss {2.5 + 0.01 * (-1) ** i:.3f}" for e in (1, 2) for i in range(10)
    )
    outcome = of_run(tmp_path, train__log=f"{first}\n{rest}")
    assert (outcome.verdict, "30 points" in outcome.summary) == (Verdict.PASS, True), outcome.summary


def test_ranges_that_only_touch_are_apart_and_shapes_are_no_indices(tmp_path: Path) -> None:
    split = '{"split": {"train": [0, 90000], "val": [90000, 100000]}, "train_ids_shape": [64, 128, 3]}'
    outcome = of_run(tmp_path, train__log=LOG, split__json=split)
    assert (outcome.verdict, "was held out" in outcome.summary) == (Verdict.PASS, True), outcome.summary


def test_one_file_named_for_both_parts_warns_because_it_may_be_split_within(tmp_path: Path) -> None:
    split = '{"train_files": ["input.txt"], "val_files": ["input.txt"]}'
    outcome = of_run(tmp_path, train__log=LOG, data__json=split)
    assert outcome.verdict is Verdict.WARN, outcome.summary


def test_a_baseline_that_does_not_learn_does_not_decide(tmp_path: Path) -> None:
    flat = "\n".join(f"step {i} loss 5.5" for i in range(100))
    outcome = of_run(tmp_path, ternary__log=LOG, baseline_fp32__log=flat)
    assert (outcome.verdict, "10 points" in outcome.summary) == (Verdict.PASS, True), outcome.summary


def test_a_recorded_run_without_held_out_text_warns(tmp_path: Path) -> None:
    plain = "\n".join(f"step {i} loss {value:.3f}" for i, value in enumerate(FALLING))
    outcome = of_run(tmp_path, train__log=plain)
    assert (outcome.verdict, "held-out" in outcome.summary) == (Verdict.WARN, True), outcome.summary


@pytest.mark.parametrize(
    "text",
    ["[" * 5000, '{"loss": [1, 2', "loss " * 3000, '{"loss": [' + "1e999," * 50 + "1]}",
     "\x00\xff loss 3\n" * 9, '{"loss": NaN, "step": "x"}', "step,loss\n1,\n2,nan\n3\n",
     "| loss |\n|--|\n| a |\n"],
)  # fmt: skip
def test_broken_logs_break_nothing(text: str, tmp_path: Path) -> None:
    for name in ("log__json", "log__jsonl", "log__csv", "log__txt"):
        assert of_run(tmp_path / name, **{name: text}).verdict is not Verdict.ERROR


PASSAGE = "It was the custom of the house that lamps were lit before the bell, and nobody spoke of the sea."
SPLIT = "ids = [ord(c) for c in text]\n    cut = int(0.9 * len(ids))\n    return ids[:cut], ids[cut:]"


def of_code(folder: Path, code: str) -> Outcome:
    """What is found about a run whose data stand in its source."""
    return written(folder, {"ternary.py": code, "train.log": LOG}, "convergence")["convergence"]


@pytest.mark.parametrize(
    "corpus",
    [f"CORPUS = '{PASSAGE}' * 20", f"CORPUS = (\n    '{PASSAGE[:60]}'\n    '{PASSAGE[60:]}'\n) * 20",
     f"BASE = '{PASSAGE}'\nCORPUS: str = BASE * 20", f"LINES = ['{PASSAGE[:50]}', '{PASSAGE[50:]}']\n"
     "CORPUS = ' '.join(LINES * 20)"],
)  # fmt: skip
def test_the_end_of_a_text_that_repeats_itself_is_not_held_out(corpus: str, tmp_path: Path) -> None:
    code = f"{corpus}\n\n\ndef split(text):\n    {SPLIT}\n\n\ntrain, val = split(CORPUS.lower())\n"
    outcome = of_code(tmp_path, code)
    assert outcome.verdict is Verdict.WARN, outcome.summary
    assert "one passage 20 times" in outcome.summary
    assert outcome.location == ("ternary.py", 1 + code[: code.index("ids[:cut]")].count("\n"))


@pytest.mark.parametrize(
    "code",
    [f"CORPUS = '{PASSAGE}' * 20\n", f"DEMO = '{PASSAGE}' * 20\nx = [1, 2, 3]\na, b = x[:2], x[2:]\n",
     f"TRAIN_TEXT = '{PASSAGE}' * 20\na, b = TRAIN_TEXT[:9], TRAIN_TEXT[9:]\n",
     f"CORPUS = '{PASSAGE}'\na, b = CORPUS[:80], CORPUS[80:]\n",
     f"TRAIN_TEXT = '{PASSAGE * 4}'\nval_prompt = '{PASSAGE * 4}'\n"],
)  # fmt: skip
def test_texts_that_are_not_cut_or_do_not_repeat_are_left_alone(code: str, tmp_path: Path) -> None:
    outcome = of_code(tmp_path, code)
    assert outcome.verdict is Verdict.PASS, outcome.summary


def test_one_literal_for_training_and_for_held_out_text_is_not_held_out(tmp_path: Path) -> None:
    text = f"{PASSAGE} {' '.join(sorted(PASSAGE.split()))} {PASSAGE[::-1]}"
    same = of_code(tmp_path / "a", f"TRAIN_TEXT = '{text}'\nVAL_TEXT = '{text}'\n")
    other = of_code(tmp_path / "b", f"TRAIN_TEXT = '{text}'\nVAL_TEXT = '{text.swapcase()}'\n")
    assert (same.verdict, "VAL_TEXT" in same.summary) == (Verdict.FAIL, True), same.summary
    assert (other.verdict, "was held out" in other.summary) == (Verdict.PASS, True), other.summary


def test_float32_arithmetic_on_float64_weights_warns(tmp_path: Path) -> None:
    outcomes = judged(HERE / "twins" / "closure_float32.py", LAYER, tmp_path)
    assert all("float32" in outcome.summary for outcome in outcomes.values()), outcomes


@pytest.mark.parametrize(
    "split",
    ["train_ids = ids\n    val_ids = ids[n:]", "val_data, train_data = ids[n:], ids",
     "held_out = ids[:n]\n    training_set = ids.copy()", "train = ids[:]\n    heldout = ids[-n:]"],
)  # fmt: skip
def test_a_part_of_what_is_trained_on_is_not_held_out(split: str, tmp_path: Path) -> None:
    code = f"def main(text, n):\n    ids = [ord(c) for c in text]\n    {split}\n"
    outcome = of_code(tmp_path, code)
    assert outcome.verdict is Verdict.WARN, outcome.summary
    assert "it was not held out" in outcome.summary
    cut = next(line for line, text in enumerate(code.splitlines(), 1) if "n:]" in text or "[:n]" in text)
    assert outcome.location == ("ternary.py", cut)


@pytest.mark.parametrize(
    "split",
    ["train = ids\n    val = ids[n:]\n    train = train[:n]", "train_ids = ids[:n]\n    val_ids = ids[n:]",
     "train = ids\n    ids = other\n    val = ids[n:]", "train = ids\n    val = ids[n:]\n    step(train[:n])",
     "train_losses = ids\n    val_losses = ids[n:]", "train = ids\n    val = ids[n]"],
)  # fmt: skip
def test_what_may_have_been_held_out_is_left_alone(split: str, tmp_path: Path) -> None:
    outcome = of_code(tmp_path, f"def main(ids, other, n):\n    {split}\n")
    assert outcome.verdict is Verdict.PASS, outcome.summary


@pytest.mark.parametrize(
    "line",
    ["val_loss = evaluate(model, train_ids)", "test_ppl = perplexity(net, path=trn_path)",
     "row = {'val_loss': float(mean_nll(net, TRAIN[-len(HELD):]))}",
     "held, _ = loss(self.train_data[:n])", "valid_loss = validate(splits['train'])"],
)  # fmt: skip
def test_a_held_out_figure_of_the_training_text_is_told(line: str, tmp_path: Path) -> None:
    outcome = of_code(tmp_path, f"def report(self):\n    {line}\n")
    assert outcome.verdict is Verdict.WARN, outcome.summary
    assert "that is no held-out text" in outcome.summary
    assert outcome.location == ("ternary.py", 2)


def test_held_out_text_that_is_cut_from_the_training_text_is_told(tmp_path: Path) -> None:
    outcome = of_code(tmp_path, "train_ids = encode(text)\nval_ids = train_ids[-500:]\n")
    assert outcome.verdict is Verdict.WARN, outcome.summary
    assert outcome.location == ("ternary.py", 2)


@pytest.mark.parametrize(
    "line",
    ["val_loss = evaluate(train_state, batch)", "val_loss = evaluate(model, train_ids, val_ids)",
     "val_loss = evaluate(model, text[len(train_ids):])", "train_loss = evaluate(model, train_ids)",
     "val_ids = make(train_ids)", "val_loss = evaluate(model, ids, training=False)",
     "val_loss = evaluate(trained, ids)", "val_loss = smooth(train_ids)",
     "train_all = ids\nval = train_all[n:]\ntrain = train_all[:n]"],
)  # fmt: skip
def test_other_calls_beside_training_text_are_left_alone(line: str, tmp_path: Path) -> None:
    outcome = of_code(tmp_path, f"{line}\n")
    assert outcome.verdict is Verdict.PASS, outcome.summary
