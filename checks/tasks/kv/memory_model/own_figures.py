"""Whether a submission's own figures of memory are the closed form's."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Fault, Unbound
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.memory_model.calculators import Calculator, calculators, explained, numbers
from judge_tui.checks.tasks.kv.memory_model.closed_form import GB, MB, Reading, read, tokens_bytes
from judge_tui.checks.tasks.kv.memory_model.context import Fits, fits
from judge_tui.checks.tasks.kv.memory_model.geometry import Geometry, drawn
from judge_tui.checks.tasks.kv.memory_model.head_sizes import ignores_its_head_size
from judge_tui.checks.tasks.kv.words import claims
from judge_tui.checks.verdict import Verdict

__all__ = ["memory_model"]

_CACHE = (
    r"(kv|cache).*(bytes|size|memory|mem(_|$)|gb|gib|mb|mib|footprint)|"
    r"(bytes|memory|size|footprint|gb|gib|mb|mib).*(kv|cache|per_tok)|per_tok|growth_rate|"
    r"(estimate|calculate|compute|total|get)_?(the_)?(memory|bytes)|"
    r"memory_?(usage|requirement|model|estimate|footprint)"
)
_CONTEXT = (
    r"max.*(context|seq|token|len)|(context|token|seq)\w*_(that_)?(fit|limit|capacity|length)|fits?_|"
    r"how_many_tok"
)
_NO_REPORT = (
    r"(^|_)print|format|plot|table|test|demo|bench|compare|comparison|saving|ratio|latency|flop|bandwidth|"
    r"score|intensity|traffic|(^|_)cost|time|speed|throughput|human|str(_|$)|peak|config$|page|block|"
    r"quant|batch$|weights?_|crossover|percent|util|hit|fragment|waste|reserved?|int8|int4|fp8|mha|mqa|gqa|"
    r"naive|baseline|without|activation"
)
_OTHER = rf"report|{_NO_REPORT}"
#: What may tell a cache's bytes among other figures; one that only prints is no calculator.
_REPORT = r"(kv|cache|memory|mem)_?(report|summary|stats|statistics|budget|breakdown)"
_NUMBERS = r"kv|cache|per_tok|token|total|bytes|context|growth|(^|_)[kmgt]i?b$"
_NOT_NUMBERS = (
    r"weight|param|util|ratio|percent|share|fraction|ms|tflop|batch|layers|heads|seq|dim|activation|model"
)
#: What a wrong figure is named, to be a wrong figure of the cache and not a right one of something else.
_OURS = r"kv|cache|per_tok|growth"
_HALF = r"(^|_|\b)(k|v|keys?|values?)_(only|cache|bytes|mem)"
_SAID = r"bytes per token|bytes/token|max(imum)? context|memory growth|2 \* (num_)?layers"
_MOST = 8


@dataclass(slots=True)
class Job:
    """The figures of one submission.

    Attributes:
        bench: Where it is judged.
        found: Gathers the evidence.
        said: Convention → what is the closed form by it.
        fits: What calculators of the longest context do.
        wrong: What was wrong.
        tried: What could not be asked, and why.
        judged: Figures that were.
        open: What is no matter of sizes alone.
    """

    bench: Bench
    found: Findings
    said: dict[str, list[str]] = field(default_factory=dict)
    fits: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    judged: int = 0
    open: list[str] = field(default_factory=list)

    @property
    def points(self) -> tuple[Geometry, Geometry]:
        """The two geometries that it is asked about."""
        return drawn(self.bench.rng("geometry"))


@check(
    "memory_model",
    "memory arithmetic",
    establishes="Its own figures are 2 · layers · kv_heads · head_dim · bytes per token, and what follows.",
    optional=True,
    version=5,
)
def memory_model(bench: Bench, found: Findings) -> str:
    """Ask its calculators about two models and several GPUs; conventions are stated, never failed."""
    job = Job(bench, found)
    worker = bench.worker
    _loaded(bench)
    for calculator in list(calculators(worker, worker.loaded, _CACHE, f"{_OTHER}|{_CONTEXT}", job.tried))[
        :24
    ]:
        if job.judged < _MOST:
            _size(job, calculator)
    for calculator in list(calculators(worker, worker.loaded, _CONTEXT, _OTHER, job.tried))[:12]:
        if calculator.told & {"memory", "memory_bytes"}:
            _context(job, calculator)
        else:
            job.open.append(f"{calculator.target} takes no memory of a GPU")
    if found.verdict is None:
        _reports(job)
    if found.verdict is None:
        if not job.tried and not claims.claims(bench.submission, _CACHE, _OTHER):
            raise claims.skipped(bench.submission, "calculator of its cache's memory", _SAID)
        if not job.tried:
            raise claims.skipped(
                bench.submission, "calculator of its cache's memory that is told sizes", _SAID
            )
        hint = "an adapter.py may define cache_bytes(layers, kv_heads, head_dim, batch, seq_len, itemsize)"
        raise Unbound("memory_model", [*job.tried, hint])
    if left := [*job.tried, *job.open]:
        found.note("calculators that could not be asked", len(left), output="\n".join(left))
    return "; ".join(job.wrong[:3] or [*_together(job), *job.fits])


def _reports(job: Job) -> None:
    """Figures of the cache in reports of memory, where no calculator gave any."""
    worker, tried = job.bench.worker, list(job.tried)
    for calculator in list(
        calculators(worker, worker.loaded, _REPORT, f"{_NO_REPORT}|{_CONTEXT}", job.tried)
    )[:_MOST]:
        _size(job, calculator)
    if job.found.verdict is None:
        job.tried = tried


def _together(job: Job) -> list[str]:
    return [
        f"{', '.join(names[:3])} {'is' if len(names) == 1 else 'are'} the closed form, {convention}"
        for convention, names in list(job.said.items())[:3]
    ]


def _loaded(bench: Bench) -> None:
    """The files, imported; what the roles are is of no matter here."""
    try:
        bench.bindings  # noqa: B018
    except Fault:
        if not bench.worker.loaded:
            raise


def _size(job: Job, calculator: Calculator) -> None:
    """One calculator of bytes: every number that it gives, at two geometries."""
    calculator = _meant(job, calculator)
    if not calculator.told & {"heads", "kv_heads", "embed"} and "per_token" not in calculator.told:
        return
    answers, said = _answers(job, calculator)
    for style in ("name", "short"):
        if said and "dtype" in calculator.told:
            answers, _said = _answers(job, calculator.styled(style))
            said = _said and said
    if said:
        job.tried.append(f"{calculator.target} {said}")
        return
    for key in answers[0]:
        named = calculator.keyed(key)
        if key in answers[1] and _about_cache(named):
            _judged(job, named, [answer[key] for answer in answers])
    if not any(answers):
        job.tried.append(f"{calculator.target} gives no number")


def _meant(job: Job, calculator: Calculator) -> Calculator:
    """The calculator, its width read as that of the model or of a head, whichever is right if one is."""
    other = calculator.otherwise()
    if other is None:
        return calculator
    return next((one for one in (calculator, other) if _is_right(job, one)), calculator)


def _is_right(job: Job, calculator: Calculator) -> bool:
    answers, said = _answers(job, calculator)
    if said or not all(answers):
        return False
    readings = [
        read([a[key] for a in answers], job.points, calculator.told, _optional(calculator))
        for key in answers[0]
        if key in answers[1]
    ]
    return any(reading is not None and reading.right for reading in readings)


def _answers(job: Job, calculator: Calculator) -> tuple[list[dict[str, float]], str]:
    """The numbers at every geometry, and how it failed to give them, if it did."""
    answers: list[dict[str, float]] = []
    for point in job.points:
        value, said = explained(job.bench.worker, calculator, point, job.bench.left)
        if said:
            return [], said
        answers.append(dict(numbers(value)))
    return answers, ""


def _about_cache(calculator: Calculator) -> bool:
    if not calculator.key:
        return True
    return bool(re.search(_NUMBERS, calculator.key.lower())) and not re.search(
        _NOT_NUMBERS, calculator.key.lower()
    )


def _judged(job: Job, calculator: Calculator, answers: list[float]) -> None:
    words = calculator.words
    optional = _optional(calculator)
    result = read(answers, job.points, calculator.told, optional)
    shown = f"{answers[0]:.8g} and {answers[1]:.8g}"
    told = ", ".join(sorted(calculator.told))
    quantity = f"{calculator.target} against the closed form of what it is told ({told})"
    where = _where(calculator)
    ours = bool(re.search(_OURS, words)) and not re.search(_HALF, words)
    unknown = result is None or (result.factor and not 0.9 < result.factor <= 2.0)
    if result is None and (said := _astray(job, calculator, answers)):
        job.judged += 1
        job.found.claim(quantity, False, measured=shown, limit="the same", note=said, **where)
        job.wrong.append(f"{calculator.target.partition(':')[2]} {said}")
        return
    if result is None or unknown or not (result.right or ours):
        job.tried.append(f"{calculator.target} gives {shown}, which is no form of the sizes that it is told")
        return
    job.judged += 1
    if result.right:
        label = _mislabelled(words, result) or ignores_its_head_size(
            job.bench.worker, calculator, job.points[0], answers[0], job.bench.left
        )
        job.found.claim(
            quantity, not label, measured=shown, limit="the same", note=label or _convention(result), **where
        )
        if label:
            job.wrong.append(f"{calculator.target.partition(':')[2]}: {label}")
        else:
            job.said.setdefault(_convention(result), []).append(calculator.target.partition(":")[2])
        return
    if result.cause:
        job.found.claim(quantity, False, measured=shown, limit="the same", note=result.cause, **where)
        job.wrong.append(f"{calculator.target.partition(':')[2]}: {result.cause}")
        return
    note = f"{result.factor:.4g} times the closed form everywhere: an allowance, or a factor too many"
    job.found.claim(
        quantity, False, measured=shown, limit="the same", note=note, otherwise=Verdict.WARN, **where
    )
    job.wrong.append(f"{calculator.target.partition(':')[2]} is {result.factor:.4g} times the closed form")


def _astray(job: Job, calculator: Calculator, answers: list[float]) -> str:
    """What is wrong with the bytes of a cache, told of every size, that grow with none of them as they must.

    Only where the name leaves no doubt of what is meant; a few per cent are blocks or a header.
    """
    told = calculator.told
    named = re.search(r"(kv|cache)\w*_(size|bytes|memory|footprint)|(kv_)?bytes_per_tok", calculator.words)
    every = {"layers"} <= told and told & {"itemsize", "bits", "dtype"} and told & {"head_dim", "embed"}
    if not (named and every) or re.search(_HALF, calculator.words):
        return ""
    if min(answers) <= 0:
        return "gives nothing, whatever it is told"
    forms = [
        tokens_bytes(p, told) * p.batch ** ("batch" in told) * p.seq ** ("seq" in told) for p in job.points
    ]
    first, second = (answer / form for answer, form in zip(answers, forms, strict=True))
    return (
        ""
        if 1 / 1.2 < first / second < 1.2
        else "grows otherwise than 2 · layers · kv_heads · head_dim · bytes"
    )


def _where(calculator: Calculator) -> dict[str, Any]:
    return (
        {}
        if calculator.call.file == ADAPTER
        else {"file": calculator.call.file, "line": calculator.call.line or None}
    )


def _optional(calculator: Calculator) -> list[str]:
    """What may be left out: tokens of a figure per token, layers of one per layer, sizes of its object."""
    told, direct, words = calculator.told, calculator.direct, calculator.words
    left: list[str] = [name for name in ("seq", "batch") if name in told and name not in direct]
    if "per_tok" in words or "growth" in words:
        left += [name for name in ("seq", "batch") if name in told and name not in left]
    if "layer" in words and "layers" in told:
        left.append("layers")
    return left


def _mislabelled(words: str, result: Reading) -> str:
    """A name that promises GiB, and figures in GB; the other way round is common usage."""
    if re.search(r"(^|_|\b)gib(_|\b|$)", words) and result.unit == GB:
        return "named GiB, and given in units of 1e9 bytes"
    if re.search(r"(^|_|\b)mib(_|\b|$)", words) and result.unit == MB:
        return "named MiB, and given in units of 1e6 bytes"
    return ""


def _convention(result: Reading) -> str:
    width = {2.0: ", float16 by itself", 4.0: ", float32 by itself"}.get(result.itemsize, "")
    if result.scales:
        bits, scales = 8 * result.itemsize, result.scales
        width = f", codes of {bits:.0f} bits and {scales:.0f} bytes for the scale of each vector"
    out = f", without {' and '.join(result.left_out)}" if result.left_out else ""
    return f"in {result.unit}{width}{out}"


def _context(job: Job, calculator: Calculator) -> None:
    """One calculator of the longest context, its width read as that of the model or of a head."""
    told = [(one, _fits(job, one)) for one in (calculator, calculator.otherwise()) if one is not None]
    if failed := [said for _one, said in told[:1] if isinstance(said, str)]:
        job.tried.append(failed[0])
        return
    results = [(one, *said) for one, said in told if not isinstance(said, str)]
    _told(job, *next((r for r in results if not (r[1].cause or r[2].cause) and _steady(*r[1:])), results[0]))


def _fits(job: Job, calculator: Calculator) -> tuple[Fits, Fits] | str:
    """What it does at both geometries, or why that cannot be said."""

    def ask(point: Geometry) -> float:
        value = calculator.at(job.bench.worker, point, job.bench.left)
        given = [
            number
            for key, number in numbers(value)
            if not key or re.search(r"context|token|seq|max", key.lower())
        ]
        if not given:
            raise BadResult("gives no number")
        return given[0]

    with Guess(job.bench.worker) as guess:
        first, second = (fits(calculator, ask, point) for point in job.points)
        if first is None or second is None:
            return f"{calculator.target}: what it gives does not grow with the memory that it is told"
        return first, second
    return f"{calculator.target} {guess.said}"


def _steady(first: Fits, second: Fits) -> bool:
    return abs(first.per_gb / second.per_gb - 1) < 5e-3


def _told(job: Job, calculator: Calculator, first: Fits, second: Fits) -> None:
    where = _where(calculator)
    name = calculator.target.partition(":")[2]
    quantity = f"{calculator.target}: bytes that it fills with tokens for each GB more of the GPU"
    measured = f"{first.per_gb:.6g} and {second.per_gb:.6g}"
    if not _steady(first, second):
        cause = _unsteady(job.points, first, second)
        if not cause:
            job.tried.append(
                f"{calculator.target}: a GB is worth {measured} bytes for two models; no form that is known"
            )
            return
        job.found.claim(quantity, False, measured=measured, limit="1e9 or 2^30, less what is kept free",
                        note=cause, **where)  # fmt: skip
        job.wrong.append(f"{name}: {cause}")
        return
    cause = first.cause if first.cause == second.cause else first.cause or second.cause
    share = f"{first.share:.3g} of it used" if first.share < 0.999 else "all of it used"
    takes = f"a GB is {first.unit}" if first.unit else "memory is told in bytes"
    weights = f", weights count {first.weights:.4g}" if first.weights else ", weights are told nowhere"
    shared = ", a batch shares it" if first.batch == "each" else ""
    note = f"{takes}, {share}{weights}{shared}"
    job.found.claim(
        quantity, not cause, measured=measured, limit="1e9 or 2^30, less what is kept free",
        note=cause or note, otherwise=Verdict.WARN if first.mild or second.mild else Verdict.FAIL, **where,
    )  # fmt: skip
    if cause:
        job.wrong.append(f"{name}: {cause}")
    else:
        job.fits.append(f"{name}: {takes}, {share}")
    if first.batch == "all" and not cause:
        job.found.claim(
            f"{calculator.target}: it is told of a batch, and uses it", False,
            measured="a batch changes nothing", limit="fewer tokens for each sequence of more",
            otherwise=Verdict.WARN, **where,
        )  # fmt: skip
        job.wrong.append(f"{name} is told of a batch, and gives as many tokens for any")


def _unsteady(points: tuple[Geometry, Geometry], first: Fits, second: Fits) -> str:
    """A share that depends on the model: a size of it is missing from the bytes of a token, or too many."""
    one, other = points
    wrong: tuple[tuple[str, Callable[[Geometry], float]], ...] = (
        ("layers are left out of the bytes of a token", lambda g: 1 / g.layers),
        ("query heads are counted where key and value heads are fewer", lambda g: g.heads / g.kv_heads),
        ("heads are left out of the bytes of a token", lambda g: 1 / g.kv_heads),
        ("the head size is left out of the bytes of a token", lambda g: 1 / g.head_dim),
        ("the bytes of a number are ignored", lambda g: 1 / g.itemsize),
    )
    for words, size in wrong:
        if abs(first.per_gb * size(one) / (second.per_gb * size(other)) - 1) < 5e-3:
            return words
    return ""
