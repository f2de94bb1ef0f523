"""A decoder against the submission's own computation of whole texts, where it has one that needs no cache.

A prompt and its steps may agree because both go wrong the same way. What computes a text as a whole, gives
the same for one token, and gives rows of a text that do not hang on what follows them, is the truth that the
submission itself has written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge", "whole_texts"]

#: Names of what computes a text as a whole.
_WHOLE = re.compile(r"(?i)^(forward|logits|__call__|\w*(full|uncached|no_?cache|without_cache)\w*)$")
#: Of its parameters, what may make it compute something else.
_OTHERWISE = re.compile(r"(?i)mask|causal|cache|past|position|offset|train")
#: What stores or sees less than all that went in: then whole texts may differ.
_LESS = re.compile(r"(?i)window|sliding|sink|quant|int_?8|int_?4|float16|evict")
#: What a text is handed over as.
_TEXT = frozenset({"tokens", "x", "ids", "rows", "token_lists", "prompts"})
#: Texts that are compared, the first of one token; and how many times the usual limit they may be apart.
_LENGTHS, _SLACK = (1, 2, 5, 12), 10.0

Array = npt.NDArray[np.float64]


def judge(subject: Subject, found: Findings, make: Maker, said: Sentences) -> None:
    """Hold prompts against it; nothing is said where there is none, or it computes something else.

    Args:
        subject: The submission's decoder, which agrees with itself.
        found: Gathers the evidence.
        make: Makes its decoders.
        said: Told where they differ.
    """
    if _keeps_less(subject):
        return
    for whole in whole_texts(subject):
        with suppress(Fault):
            given = make(1).draw(np.random.default_rng(29), max(_LENGTHS) + 1)
            if not _is_causal(make, whole, given):
                continue
            pairs = ((_rows(make, whole, given, n)[:, -1], make(1).prefill(given[:, :n])) for n in _LENGTHS)
            errors = [relative_error(one, other) for one, other in pairs]
            limit = _SLACK * precision("float32").limit(0.0)
            if not errors[0] <= limit:
                found.note(f"decoder: {whole.target}", "computes something else", note=f"{errors[0]:.2g} off")
                continue
            worst = max(errors)
            off = next((n for n, error in zip(_LENGTHS, errors, strict=True) if not error <= limit), 0)
            shown = ", ".join(map(str, _LENGTHS))
            quantity = (
                f"decoder: prompts of {shown} tokens against {whole.name}, largest relative error, float32"
            )
            if not found.limit(quantity, worst, limit, file=whole.file, line=whole.line or None):
                own = whole.name.rpartition(".")[2]
                said.append(
                    f"the decoder and the submission's own {own} without a cache agree on one token and "
                    f"differ by {worst:.2g} from {off} tokens on"
                )
            return


def _keeps_less(subject: Subject) -> bool:
    """Whether the source says that less is stored or seen than goes in."""
    submission = subject.bench.submission
    sources = (submission.path / file for file in submission.files if file.endswith(".py"))
    return any(_LESS.search(path.read_text("utf-8", "replace")) for path in sources)


def whole_texts(subject: Subject, *, cached: bool = False) -> Iterator[Binding]:
    """What may compute whole texts: methods beside the one that takes prompts, which take a text alone.

    Args:
        subject: The submission's decoder.
        cached: Whether they may take a cache as well, which is then left out.
    """
    prefill, decode = subject.bound["prefill"], subject.bound["decode"]
    owner, _, own = prefill.name.rpartition(".")
    text = [argument for argument in prefill.args if set(argument.sources) <= _TEXT]
    if len(text) != 1 or not owner or prefill.origin != "found":
        return
    classes = subject.bench.worker.loaded.get(prefill.file, {}).get("classes", ())
    for method in next((each["methods"] for each in classes if each["name"] == owner), ()):
        params = [param for param in method["params"] or () if param["name"] != "self"]
        needed = [param for param in params if "default" not in param]
        others = (own, decode.name.rpartition(".")[2])
        if (
            _WHOLE.match(method["name"])
            and method["name"] not in others
            and len(needed) == 1
            and (cached or not any(_OTHERWISE.search(param["name"]) for param in params))
        ):
            handed = replace(text[0], keyword="")
            name = f"{owner}.{method['name']}"
            yield replace(prefill, name=name, line=method["line"], args=(handed,), returns={})


def _is_causal(make: Maker, whole: Binding, given: Array) -> bool:
    """Whether its rows of a text are those of a longer one, where it gives any but the last."""
    short, long = (_rows(make, whole, given, n) for n in (4, 7))
    return short.shape[1] == 1 or relative_error(long[:, : short.shape[1]], short) <= _SLACK * 1e-5


def _rows(make: Maker, whole: Binding, given: Array, length: int) -> Array:
    """(1, N or 1, W) answers to a text."""
    return make(1, {**make.bound, "prefill": whole}).answers(given[:, :length])
