"""`judge-tui bind`: what plays which role and why, what is open, and what is written of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.adapter_skeleton import skeleton
from judge_tui.checks.binding.binder import Bindings
from judge_tui.checks.bound import searched
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.sources import absence
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task

from .conftest import Cli

SUBMISSIONS = Path(__file__).parents[2] / "submissions"
RIGHT = '''"""Layer norm."""


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / (((x - mean) ** 2).mean(-1, keepdims=True) + eps) ** 0.5
    xhat = (x - mean) * rstd
    return xhat * gamma + beta, {"xhat": xhat, "rstd": rstd, "gamma": gamma}


'''
BACKWARD = """def layer_norm_backward(dy, cache):
    xhat, g = cache["xhat"], dy * cache["gamma"]
    dx = cache["rstd"] * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
"""
#: Too unusual to be found: the gradients are written into a list that stands in a list.
UNUSUAL = """def layer_norm_backward(dy, cache):
    return "look into the cache"


class Reverse:
    def __init__(self, saved):
        self.saved = saved

    def run(self, upstream, into):
        xhat, g = self.saved["xhat"], upstream * self.saved["gamma"]
        dx = self.saved["rstd"] * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
        into.append([dx, [(upstream * xhat).sum((0, 1)), upstream.sum((0, 1))]])
"""
TOML = '# how it came here\norigin = "submission"  # by mail\n\n\nmodel = "Some One"\n'


def submit(root: Path, files: dict[str, str], model: str = "someone") -> Path:
    folder = root / "submissions" / model / "backwards"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def judges(root: Path, model: str = "someone", task: str = "backwards") -> Path:
    """The judge's own folder for a submission."""
    return root / "bindings" / model / task


def test_a_found_role_says_where_it_is_how_it_is_called_and_what_showed_it(root: Path, cli: Cli) -> None:
    submit(root, {"norm.py": RIGHT + BACKWARD})
    done = cli("bind", "someone", "--task", "backwards", "--trust", "--format", "json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    forward, backward = told["roles"]
    assert (told["model"], told["task"], told["written"]) == ("someone", "backwards", [])
    assert (forward["state"], forward["target"], forward["line"]) == (
        "found",
        "norm.py:layer_norm_forward",
        4,
    )
    assert forward["called"] == "layer_norm_forward(x, gamma, beta, eps)"
    assert forward["gives"] == {"y": "[0]", "cache": "[1]"}
    assert "called with x (2, 3, 5), gamma (5,), beta (5,), it gave y (2, 3, 5), cache" in forward["why"]
    assert backward["state"] == "found"
    text = cli("bind", "someone", "--task", "backwards", "--trust").out
    assert "2 of 2 roles bound" in text
    assert "norm.py:4 layer_norm_forward" in text


def test_an_open_role_lists_each_candidate_with_its_line_and_how_it_failed(root: Path, cli: Cli) -> None:
    submit(root, {"norm.py": RIGHT + UNUSUAL})
    done = cli("bind", "someone", "--task", "backwards", "--role", "backward", "--trust", "--format", "json")
    (role,) = json.loads(done.out)["roles"]
    assert (role["role"], role["state"]) == ("backward", "open")
    (tried,) = [c for c in role["candidates"] if c["target"] == "norm.py:layer_norm_backward"]
    assert (tried["file"], tried["line"]) == ("norm.py", 11)
    assert tried["said"].startswith("answered dx with")
    text = cli("bind", "someone", "--task", "backwards", "--trust").out
    assert "norm.py:11 layer_norm_backward  answered dx with" in text


def test_an_unknown_role_and_an_empty_folder_are_told_in_one_sentence(root: Path, cli: Cli) -> None:
    submit(root, {})
    done = cli("bind", "someone", "--task", "backwards", "--role", "foward", "--trust")
    assert done.code == 2
    assert "no role 'foward'" in done.err
    done = cli("bind", "someone", "--task", "backwards", "--trust")
    assert done.code == 2
    assert "the folder is missing or empty" in done.err


def test_write_keeps_comments_and_order_and_leaves_what_a_person_wrote(root: Path, cli: Cli) -> None:
    by_hand = '\n[binding.forward]  # mine\ntarget = "norm.py:layer_norm_forward"\n'
    submission = submit(root, {"norm.py": RIGHT + BACKWARD, "submission.toml": TOML})
    folder = judges(root)
    folder.mkdir(parents=True)
    (folder / "submission.toml").write_text(TOML + by_hand)
    done = cli("bind", "someone", "--task", "backwards", "--write", "--trust")
    assert done.code == 0, done.err
    assert "[binding.backward]" in done.out
    text = (folder / "submission.toml").read_text()
    assert text.startswith(TOML + by_hand)
    assert '[binding.backward]\ntarget = "norm.py:layer_norm_backward"\nargs = ["dy", "cache"]\n' in text
    again = cli("bind", "someone", "--task", "backwards", "--write", "--trust")
    assert "nothing new to write" in again.out
    assert (folder / "submission.toml").read_text() == text
    assert [path.name for path in folder.iterdir()] == ["submission.toml"]
    assert (submission / "submission.toml").read_text() == TOML


@pytest.mark.parametrize("option", ["--write", "--adapter"])
def test_a_read_only_folder_and_a_foreign_tree_are_refused_in_one_sentence(
    root: Path, cli: Cli, option: str
) -> None:
    folder = submit(root, {"norm.py": RIGHT + BACKWARD})
    own = judges(root)
    own.mkdir(parents=True)
    own.chmod(0o555)
    try:
        done = cli("bind", "someone", "--task", "backwards", option, "--trust")
    finally:
        own.chmod(0o755)
    assert (done.code, done.out) == (2, "")
    assert f"{own}: is read-only." in done.err
    assert list(own.iterdir()) == []
    tree = (root / "submissions").rename(root / "others")
    folder = tree / "someone" / "backwards"
    done = cli("bind", "someone", "--task", "backwards", option, "--submissions", tree, "--trust")
    assert (done.code, done.out) == (2, "")
    assert "is never written to" in done.err
    assert [path.name for path in folder.iterdir()] == ["norm.py"]
    overlay = root / "overlay"
    overlay.mkdir()
    done = cli("bind", "someone", "--task", "backwards", option, "--submissions", tree, "--bindings", overlay,
               "--trust")  # fmt: skip
    assert done.code == 0, done.err
    written = "submission.toml" if option == "--write" else "adapter.py"
    assert (overlay / "someone" / "backwards" / written).is_file()
    assert [path.name for path in folder.iterdir()] == ["norm.py"]


def test_a_skeleton_loads_says_what_is_to_be_filled_and_is_never_written_twice(root: Path, cli: Cli) -> None:
    submission, folder = submit(root, {"norm.py": RIGHT + UNUSUAL}), judges(root)
    done = cli("bind", "someone", "--task", "backwards", "--adapter", "--trust")
    assert done.code == 0, done.err
    assert [path.name for path in submission.iterdir()] == ["norm.py"]
    text = (folder / "adapter.py").read_text()
    assert "def backward(dy, cache, gamma, x, eps, D):" in text
    assert "dy: array (2, 3, 5) float64 in the probe" in text
    assert "#   norm.py:4  layer_norm_forward(x, gamma, beta, eps=1e-05)" in text
    assert "#   norm.py:19  Reverse.run(upstream, into)" in text
    assert "#       made by Reverse(saved)" in text
    assert "# forward was found: norm.py:layer_norm_forward" in text
    done = cli("bind", "someone", "--task", "backwards", "--trust", "--format", "json")
    forward, backward = json.loads(done.out)["roles"]
    assert (forward["state"], forward["origin"]) == ("found", "found")
    assert backward["state"] == "open"
    assert any("role 'backward' is still to be filled" in c["said"] for c in backward["candidates"])
    done = cli("bind", "someone", "--task", "backwards", "--adapter", "--trust")
    assert done.code == 2
    assert "exists already and is never overwritten" in done.err
    assert (folder / "adapter.py").read_text() == text


def test_a_skeleton_filled_in_binds(root: Path, cli: Cli) -> None:
    submit(root, {"norm.py": RIGHT + UNUSUAL})
    folder = judges(root)
    cli("bind", "someone", "--task", "backwards", "--adapter", "--trust")
    lines = (folder / "adapter.py").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("def backward("))
    filled = [
        "from norm import Reverse", "", "def backward(dy, cache):", "    out = []",
        "    Reverse(cache).run(dy, out)", "    return out[0][0], *out[0][1]",
    ]  # fmt: skip
    (folder / "adapter.py").write_text("\n".join([*lines[:at], *filled]))
    told = json.loads(cli("bind", "someone", "--task", "backwards", "--trust", "--format", "json").out)
    assert [(role["state"], role["origin"]) for role in told["roles"]] == [
        ("found", "found"), ("found", "adapter.py")
    ]  # fmt: skip
    done = cli("check", "someone", "--task", "backwards", "--check", "gradients", "--trust")
    assert done.code == 0, done.out


def test_nothing_that_a_submission_says_becomes_code_of_the_skeleton(tmp_path: Path) -> None:
    task = load_task("backwards")
    name = "f(x):\n    pass\nraise SystemExit(3)\n#"
    params = [{"name": 'y"""\nraise SystemExit(4)', "kind": "POSITIONAL_OR_KEYWORD", "default": "\n1/0"}]
    function = {"name": name, "line": 1, "params": params, "doc": ""}
    found = Bindings(loaded={"a.py": {"functions": [function], "classes": []}})
    text = skeleton(task.contract, found, task.contract.sample(np.random.default_rng(0)))
    exec(compile(text, "adapter.py", "exec"), {})


def _plain(binding: Binding) -> tuple[object, ...]:
    """What of a binding decides how it is called."""
    # What is kept is handed over under the same names, wherever the binding comes from.
    return (
        binding.target, binding.args, dict(binding.returns), binding.on, binding.init,
        dict(binding.attributes), binding.layout, binding.loose, binding.model, dict(binding.patch),
    )  # fmt: skip


TASKS = ("backwards", "beam_search", "flash_attention", "kv", "flash_attention_bwd")


@pytest.mark.parametrize(
    "place",
    [p for p in sorted(SUBMISSIONS.glob("*/*")) if p.name in TASKS and not absence(Submission.at(p))],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_what_is_written_of_a_reconstruction_binds_to_the_same_when_read_again(
    place: Path, root: Path, cli: Cli
) -> None:
    copy = root / "submissions" / "copied" / place.name
    shutil.copytree(place, copy)
    if (by_hand := SUBMISSIONS.parent / "bindings" / place.parent.name / place.name).is_dir():
        shutil.copytree(by_hand, judges(root, "copied", place.name))
    task = load_task(place.name)
    before = searched(task, Submission.at(copy, bindings=root / "bindings"), seed=1)
    assert before.found, "a reconstruction that nothing binds"
    done = cli("bind", "copied", "--task", place.name, "--write", "--trust")
    assert done.code == 0, done.err
    after = searched(task, Submission.at(copy, bindings=root / "bindings"), seed=2)
    assert {role: _plain(b) for role, b in after.found.items()} == {
        role: _plain(b) for role, b in before.found.items()
    }
    assert all(binding.origin != "found" for binding in after.found.values())
