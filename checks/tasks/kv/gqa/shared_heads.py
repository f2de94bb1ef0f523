"""Whether query heads that share a head of keys and values equal heads that have copies of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Raised, Skipped, Unbound
from judge_tui.checks.refusing import refusal
from judge_tui.checks.sizes import Range
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.finding import grouped
from judge_tui.checks.tasks.kv.finding.grouped import Heads
from judge_tui.checks.tasks.kv.gqa import decoder_heads as gqa_decoder
from judge_tui.checks.tasks.kv.limits import Worst, float32_limit, precision
from judge_tui.checks.tasks.kv.subject import Subject, called_in_vain
from judge_tui.checks.tasks.kv.words.claims import claims
from judge_tui.checks.tasks.kv.words.head_maps import cause
from judge_tui.checks.tasks.kv.words.parameters import KV_HEADS, takes
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows, plain
from judge_tui.checks.tolerance import relative_error

__all__ = ["claims_sharing", "gqa"]

Array = npt.NDArray[Any]
#: Heads of keys and values, and how many queries share each: two and more, no other, all of them.
_GROUPS: tuple[tuple[Range, Range], ...] = (
    ((2, 2), (2, 2)),
    ((2, 3), (3, 5)),
    ((3, 4), (2, 3)),
    ((3, 5), (1, 1)),
    ((1, 1), (3, 6)),
    ((1, 1), (2, 2)),
)
#: How many queries share a head where the source names about so many, and shapes of those at most.
_NAMED: tuple[Range, int] = ((4, 17), 3)
_GROUP = "queries to a head"
_HEADS = takes("kv_heads", KV_HEADS, "int")
#: In the text of what attends: heads of keys and values that are counted apart, or repeated.
_MEANT = re.compile(r"kv_?heads?\b|key_value_heads|n_?rep\b|repeat_?kv|heads_per_", re.I)
#: There: they are repeated, as often as their number goes into that of the queries' heads.
_REPEATED = re.compile(r"\b(repeat|tile|broadcast_to)\s*\(")
_AS_OFTEN = re.compile(r"//\s*[\w.]*(\.shape\[|head|kv)", re.I)
_PROMPT, _STEPS = 5, 3


@check(
    "gqa",
    "shared heads",
    establishes="Query heads that share heads of keys and values (GQA, MQA) equal full attention over "
    "repeated heads.",
    optional=True,
    version=8,
)
def gqa(bench: Bench, found: Findings) -> str:
    """Attention alone, attention over the cache, and the decoder, each where it takes fewer KV heads."""
    subject = Subject(bench, dict(bench.bindings.found))
    said: list[str] = []
    if "grouped" in subject.bound:
        _alone(subject, found, subject.bound["grouped"], said)
    if subject.mode and subject.mode != "read":
        _cached(subject, found, said)
    if subject.decodes:
        gqa_decoder.judge(subject, found, said)
    if found.verdict is None:
        if tried := called_in_vain(bench, "grouped"):
            raise Unbound("grouped", tried)
        if not (subject.mode or subject.decodes) and (seen := _told_of_heads(bench)):
            raise Unbound("grouped", seen)
        raise Skipped(_nothing(bench, found))
    return "; ".join(said)


def _told_of_heads(bench: Bench) -> list[str]:
    """What is called attention and asks how many heads keys and values have."""
    named = claims(bench.submission, r"attend|attention|attn")
    return [f"saw {claim}" for claim in named if any(_HEADS.means(name) for name in claim.arguments)]


def _nothing(bench: Bench, found: Findings) -> str:
    told = [str(item.measured) for item in found.evidence if item.measured]
    if told:
        return "; ".join(dict.fromkeys(told))
    submission = bench.submission
    texts = [name for name in submission.files if name.lower().endswith((".md", ".txt", ".rst"))]
    prose = [name for name in texts if grouped.SPOKEN.search(submission.read_text(name))]
    said = f" ({prose[0]} speaks of them; nothing can be called)" if prose else ""
    return f"nothing takes fewer heads of keys and values than of queries{said}"


def _where(binding: Binding) -> dict[str, Any]:
    return {} if binding.file == ADAPTER else {"file": binding.file, "line": binding.line or None}


def _shapes(subject: Subject) -> list[Heads]:
    """Pairs of head counts: the plainest first, which tells whether heads are shared at all."""
    shared = [subject.bench.sizes("groups", index).shape(*axes) for index, axes in enumerate(_GROUPS)]
    return [Heads(heads * times, heads, _width(subject)) for heads, times in shared]


def _named(subject: Subject) -> list[Heads]:
    """As many queries to a head as the source's own integers are about: tiles of heads cross groups there."""
    axis, most = _NAMED
    about = subject.bench.sizes("groups named").about(subject.bench.integers, {_GROUP: axis}, most)
    return [Heads(2 * one.at[_GROUP], 2, _width(subject), why=one.why) for one in about]


def _width(subject: Subject) -> int:
    """Of a head."""
    return subject.sizes(2, _PROMPT).head_dim


def _tokens(subject: Subject) -> int:
    """Keys that queries attend to where nothing is cached."""
    return subject.between("tokens", 5, 11)


def _alone(subject: Subject, found: Findings, binding: Binding, said: list[str]) -> None:
    """q, k and v go in: one query over all keys, and as many queries as keys."""
    every = [*_shapes(subject), *_named(subject)]
    shapes = [heads for heads in every if heads.shared == 1 or not grouped.mqa_only(binding)]
    forms = _forms(subject, binding)
    worst, limit, table = Worst(), precision("float32").limit(0.0), [("heads", "relative error")]
    for index, heads in enumerate(shapes):
        errors = []
        try:
            for tokens, causal in forms:
                q, k, v = _drawn(subject, "alone", index, heads, _tokens(subject))
                one, narrow = _one(subject, binding, heads, (q[:, :, -tokens:], k, v), causal)
                limit = max(limit, precision("float32").limit(narrow))
                errors.append(one)
        except Raised as fault:
            if not heads.why:
                raise
            found.note(f"{heads}: refused", fault.message)
            continue
        best = Worst()
        for one in errors:
            best = best.or_worse(one)
        table.append((str(heads), f"{best.error:.2g}"))
        worst = worst.or_worse(best)
    quantity = "attention over shared heads against repeated ones, largest relative error per row, float32"
    where = _where(binding)
    if found.limit(quantity, worst.error, limit, note=worst.note, table=tuple(table), **where):
        said.append(f"{binding.name}: shared heads equal repeated ones within {worst.error:.1e} "
                    f"({len(table) - 1} shapes, limit {limit:.0e})")  # fmt: skip
    else:
        said.append(f"{binding.name}: off by {worst.error:.2g} ({worst.where}){worst.because}")


def _forms(subject: Subject, binding: Binding) -> list[tuple[int, bool | None]]:
    """Numbers of queries and the mask that the callable applies: where it is right, else all."""
    heads = Heads(4, 1 if grouped.mqa_only(binding) else 2, _width(subject))
    several = _tokens(subject)
    q, k, v = _drawn(subject, "forms", 0, heads, several)
    runs: list[tuple[int, bool | None]] = []
    right: list[tuple[int, bool | None]] = []
    options: list[tuple[int, bool | None]] = [(1, None)]
    if "N" in binding.layout:
        options += [(several, True), (several, False)]
    for tokens, causal in options:
        try:
            one, _narrow = _one(subject, binding, heads, (q[:, :, -tokens:], k, v), causal)
        except (Raised, BadResult):
            continue
        runs.append((tokens, causal))
        if one.error <= 1e-3:
            right.append((tokens, causal))
    if not runs:
        runs = options[:1]
    return right or runs


def _one(
    subject: Subject, binding: Binding, heads: Heads, given: tuple[Array, Array, Array], causal: bool | None
) -> tuple[Worst, float]:
    """One call against the truth, and the error of a plain float32 attention."""
    q, k, v = given
    bench = subject.bench
    try:
        out = grouped.called(bench.worker, binding, heads, q, k, v, causal=bool(causal), budget=bench.left)
    except (Raised, BadResult) as fault:
        fault.message = f"{fault.message} ({heads})"
        raise
    visible = causal_rows(q.shape[2], k.shape[2]) if causal else None
    truth = attention(q, k, v, visible=visible)
    error = relative_error(out, truth)
    words = cause(out, q, k, v, visible) if not error <= 1e-3 else ""
    return Worst(error, str(heads), words), relative_error(plain(q, k, v, visible=visible), truth)


def _drawn(subject: Subject, name: str, index: int, heads: Heads, tokens: int) -> tuple[Array, Array, Array]:
    rng = subject.bench.rng(name, index)
    q, k, v = (
        rng.standard_normal((2, n, tokens, heads.width)).astype(np.float32)
        for n in (heads.queries, heads.shared, heads.shared)
    )
    return q, k, v


def _cached(subject: Subject, found: Findings, said: list[str]) -> None:
    """Prompt and steps through the cache; it holds fewer heads than are asked with."""
    first = None
    with Guess(subject.bench.worker) as guess:
        first = _run(subject, Heads(4, 2, _width(subject)), 0)
    if first is None:
        if isinstance(guess.fault, Raised) and _repeats(subject):
            _broken(subject, found, said, guess.fault)
        elif claims_sharing(subject) and not isinstance(guess.fault, Skipped):
            found.note(
                "attention over the cache with 4 query heads over 2",
                f"does not run so: {guess.said}",
                note="how fewer heads are told to it is not found",
            )
        return
    limit = float32_limit(subject)
    if not first.error <= max(limit, 1e-3) and not claims_sharing(subject):
        return
    worst, table = first, [("heads", "relative error"), ("4 query heads over 2", f"{first.error:.2g}")]
    for index, heads in enumerate([*_shapes(subject)[1:], *_named(subject)], 1):
        try:
            one = _run(subject, heads, index)
        except Raised as fault:
            if not heads.why:
                raise
            found.note(f"{heads}: refused", fault.message)
            continue
        table.append((str(heads), f"{one.error:.2g}"))
        worst = worst.or_worse(one)
    quantity = (
        "decode steps over a cache of shared heads against repeated ones, largest relative error per row"
    )
    where = subject.where("attend", "step")
    if found.limit(f"{quantity}, float32", worst.error, limit, note=worst.note, table=tuple(table), **where):
        said.append(f"over the cache: within {worst.error:.1e} ({len(table) - 1} shapes, limit {limit:.0e})")
    else:
        said.append(f"over the cache: off by {worst.error:.2g} ({worst.where}){worst.because}")


def _repeats(subject: Subject) -> bool:
    """Whether a cache is told its own number of heads, and what attends over it repeats them."""
    create = subject.bound.get("create")
    if create is None or not create.takes("kv_heads"):
        return False
    texts = [text for n in ("step", "attend", "attention") if n in subject.bound
             for text in subject.text(subject.bound[n])]  # fmt: skip
    return any(_REPEATED.search(text) and _AS_OFTEN.search(text) for text in texts)


def _broken(subject: Subject, found: Findings, said: list[str], fault: Raised) -> None:
    """Heads are repeated, and yet fewer of them than of queries raise; a refusal is none of it."""
    quantity = "attention over the cache with 4 query heads over 2"
    alike = None
    with Guess(subject.bench.worker):
        alike = _run(subject, Heads(2, 2, _width(subject)), 0)
    refused = refusal(subject.bench.submission, fault)
    if alike is None or refused:
        found.note(quantity, refused or fault.message)
        return
    where = {"file": fault.file, "line": fault.line} if fault.file else subject.where("step", "attend")
    limit = "an answer: heads are repeated as often as their number goes into that of queries"
    found.claim(quantity, False, measured=fault.message, limit=limit, **where)
    said.append(f"over the cache, 4 query heads over 2: {fault.placed}")


def claims_sharing(subject: Subject) -> bool:
    """Whether the cache or its attention says that heads are shared: by a parameter, its name or its text.

    Code that happens to run with fewer heads, and was never meant to, claims nothing.
    """
    bindings = [subject.bound[n] for n in ("create", "step", "attend", "attention") if n in subject.bound]
    if any(b.takes("kv_heads") or grouped.SPOKEN.search(b.name) for b in bindings):
        return True
    return any(_MEANT.search(text) for b in bindings for text in subject.text(b))


def _run(subject: Subject, heads: Heads, index: int) -> Worst:
    total = _PROMPT + _STEPS
    sizes = replace(subject.sizes(2, total + 2), heads=heads.shared, query_heads=heads.queries)
    cached: Cached = subject.cached(sizes)
    q, k, v = _drawn(subject, "cached", index, heads, total)
    cached.feed(*(x[:, :, :_PROMPT] for x in (q, k, v)))
    worst = Worst()
    for t in range(_PROMPT, total):
        now = slice(t, t + 1)
        out = cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
        held: Sequence[Array] = (k[:, :, : t + 1], v[:, :, : t + 1])
        error = relative_error(out, attention(q[:, :, now], *held))
        words = cause(out, q[:, :, now], held[0], held[1], None) if not error <= 1e-3 else ""
        worst = worst.or_worse(Worst(error, f"{heads}, position {t}", words))
    return worst
