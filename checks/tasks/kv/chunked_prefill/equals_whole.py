"""Whether a prompt in chunks gives what it gives at once, however it is cut."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Raised, Skipped, Unbound
from judge_tui.checks.tasks.kv.chunked_prefill import again, decoders, decoders_again, straddling
from judge_tui.checks.tasks.kv.chunked_prefill.causes import cause, even
from judge_tui.checks.tasks.kv.chunked_prefill.splits import NOTHING, TOKENS, at_size, place, splits
from judge_tui.checks.tasks.kv.faces.chunk_fed import ChunkFed
from judge_tui.checks.tasks.kv.finding import chunked as chunks
from judge_tui.checks.tasks.kv.limits import Worst, float32_limit
from judge_tui.checks.tasks.kv.subject import Subject, called_in_vain
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows, plain
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["chunked_prefill"]

Array = npt.NDArray[Any]
_STEPS = 2
_PROSE = re.compile(r"chunk", re.I)


@check(
    "chunked_prefill",
    "prompt in chunks",
    establishes="Any split of a prompt into chunks equals one prefill: its rows, and the steps after it.",
    optional=True,
    version=12,
)
def chunked_prefill(bench: Bench, found: Findings) -> str:
    """Take one prompt in chunks of many sizes; hold rows and later steps against full attention."""
    bindings = bench.bindings
    if "chunked" not in bindings:
        if "chunked" in bindings.faults:
            raise bindings.faults["chunked"]
        if tried := called_in_vain(bench, "chunked"):
            raise Unbound("chunked", tried)
        return _again(Subject(bench, dict(bindings.found)), found)
    subject = Subject(bench, dict(bindings.found))
    chunked = bindings.found["chunked"]
    if chunks.over_tokens(chunked):
        return _of_decoder(subject, found, chunked)
    return _arrays(subject, found, chunked)


def _again(subject: Subject, found: Findings) -> str:
    """Several calls for one prompt, of the cache and of the decoder.

    Raises:
        Skipped: Neither takes a prompt so, and why.
    """
    said, why = list[str](), list[str]()
    for each in (again.judge, decoders_again.judge):
        try:
            said.append(each(subject, found))
        except Skipped as fault:
            why.append(fault.message)
    if found.verdict in (None, Verdict.PASS) and (wrong := straddling.judge(subject, found)):
        return wrong
    if found.verdict is None:
        raise Skipped("; ".join(dict.fromkeys(why)) or _nothing(subject.bench))
    return "; ".join(filter(None, said))


def _of_decoder(subject: Subject, found: Findings, chunked: Binding) -> str:
    """A decoder's prompts in chunks of a size, and in calls of their own, where these go on."""
    said = decoders.judge(subject, found, chunked)
    if found.verdict is not Verdict.PASS:
        return said
    with suppress(Skipped):
        in_calls = decoders_again.judge(subject, found)
        return "; ".join(filter(None, (said, in_calls))) if found.verdict is Verdict.PASS else in_calls
    return said


def _nothing(bench: Bench) -> str:
    """Why there is nothing to judge, and where prose speaks of it."""
    submission = bench.submission
    prose = [
        name for name in submission.files
        if name.lower().endswith((".md", ".txt", ".rst")) and _PROSE.search(submission.read_text(name))
    ]  # fmt: skip
    said = f" ({prose[0]} speaks of chunks; nothing can be called)" if prose else ""
    return f"{NOTHING}{said}"


def _arrays(subject: Subject, found: Findings, chunked: Binding) -> str:
    limit, where = float32_limit(subject), place(chunked)
    prompts, later, table = Worst(), Worst(), [("chunk", "rows", "steps after")]
    answered = went_on = False
    for index, size in enumerate(splits(chunked)):
        try:
            run = _Run(subject, chunked, size, index)
        except (Raised, BadResult) as fault:
            raise at_size(fault, size) from fault
        out = run.out
        if out is not None and not chunked.takes("q"):
            return _without_queries(subject, found, chunked, run)
        answered |= out is not None
        rows = run.rows() if out is not None else Worst()
        steps = run.steps()
        limit = max(limit, run.limit)
        went_on |= steps is not None
        prompts, later = prompts.or_worse(rows), later.or_worse(steps or Worst())
        table.append((str(size), f"{rows.error:.2g}" if out is not None else "none given",
                      "not asked" if steps is None else f"{steps.error:.2g}"))  # fmt: skip
    quantity = f"prompt of {TOKENS}, batch 2, {{}}, largest relative error per row, float32"
    shown = ", ".join(map(str, splits(chunked)))
    if answered:
        found.limit(quantity.format(f"chunks of {shown}: its rows against full causal attention"),
                    prompts.error, limit, note=prompts.note, table=tuple(table), **where)  # fmt: skip
    if went_on:
        found.limit(quantity.format(f"chunks of {shown}: {_STEPS} decode steps after it"),
                    later.error, limit, note=later.note, **where)  # fmt: skip
    if found.verdict is None:
        raise Skipped(f"{chunked.target} gives no rows, and nothing reads the cache that it fills")
    if prompts.wrong(limit):
        return f"a prompt in chunks is off by {prompts.error:.2g} ({prompts.where}){prompts.because}"
    if later.wrong(limit):
        return f"steps after a prompt in chunks are off by {later.error:.2g} ({later.where}){later.because}"
    told = "rows" if answered else "decode steps after it"
    largest = prompts.error if answered else later.error
    return f"{told} of {len(table) - 1} splits within {largest:.1e} of one prefill (limit {limit:.0e})"


class _Run:
    """One prompt in chunks of one size."""

    def __init__(self, subject: Subject, chunked: Binding, size: int, index: int) -> None:
        self.subject, self.size = subject, size
        sizes = subject.sizes(2, 4 * TOKENS, chunk=size)
        self.stream = drawn(subject.bench.rng("chunked", index), sizes, TOKENS + _STEPS)
        bench = subject.bench
        self.fed = ChunkFed(bench.worker, subject.bound, chunked, sizes, lambda: bench.left)
        self.prompt = tuple(x[:, :, :TOKENS] for x in self.stream)
        self.visible = causal_rows(TOKENS, TOKENS)
        q, k, v = self.prompt
        self.out = _answer(self.fed.prompt(q, k, v), k, v)
        self.truth = attention(q, k, v, visible=self.visible)
        narrow = relative_error(plain(q, k, v, visible=self.visible), self.truth)
        self.limit = float32_limit(subject, narrow)

    def rows(self) -> Worst:
        """The rows that were given, against full causal attention."""
        q, k, v = self.prompt
        assert self.out is not None
        given = slice(self.fed.first, None)
        error = relative_error(self.out[:, :, given], self.truth[:, :, given])
        out, sizes = self.out[:, :, given], even(TOKENS, self.size)
        wrong = cause(out, q, k, v, sizes, given) if not error <= 1e-3 else ""
        return Worst(error, f"chunks of {self.size}", wrong)

    def steps(self) -> Worst | None:
        """Decode steps on the cache that was filled; ``None`` when there is none that can be used."""
        cached = self.fed.after()
        if cached is None:
            return None
        q, k, v = self.stream
        worst = Worst()
        for t in range(TOKENS, TOKENS + _STEPS):
            now = slice(t, t + 1)
            try:
                out = cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
                where = f"position {t}, after chunks of {self.size}"
                held = k[:, :, : t + 1], v[:, :, : t + 1]
                if cached.mode == "read":
                    errors = [
                        relative_error(x, y[b : b + 1].astype(float))
                        for b in range(2) for x, y in zip(cached.stored(b), held, strict=True)
                    ]  # fmt: skip
                    worst = worst.or_worse(Worst.of(errors, where))
                else:
                    worst = worst.or_worse(Worst(relative_error(out, attention(q[:, :, now], *held)), where))
            except Skipped:
                return None
        return worst


def _answer(out: Array | None, k: Array, v: Array) -> Array | None:
    """The answer, unless it is only what went in: the cache's contents."""
    if out is None or any(out.shape == x.shape and np.array_equal(out, x) for x in (k, v)):
        return None
    return out


def _without_queries(subject: Subject, found: Findings, chunked: Binding, run: _Run) -> str:
    """Attention output for keys and values alone: nothing says what was asked."""
    assert run.out is not None
    again = _Run(subject, chunked, run.size, 0)
    moved = float("nan") if again.out is None else relative_error(again.out, run.out)
    same = moved == 0.0
    why = "the same twice" if same else f"the same keys and values give another answer ({moved:.2g} off)"
    found.claim(
        "the rows of a prompt in chunks are those of its queries", False,
        measured=f"takes no queries; {why}", limit="queries go in, and decide the rows", **place(chunked),
    )  # fmt: skip
    if same:
        return "a prompt in chunks takes no queries, so its rows cannot be those of the prompt"
    return (
        "a prompt in chunks takes no queries and makes its own: "
        f"two runs on the same keys and values differ by {moved:.2g}"
    )
