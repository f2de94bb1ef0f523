"""Whether every weight that the layer multiplies by is s·{-1, 0, 1} with s = mean|W| of its group of 128."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault, Raised, Skipped, Unbound
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.ternary_training import levels
from judge_tui.checks.tasks.ternary_training.causes import cause
from judge_tui.checks.tasks.ternary_training.draws import about, draws, exact_inputs, mixed, own_sizes, work
from judge_tui.checks.tasks.ternary_training.evaluating import EVALUATED, evaluated, in_other_modes
from judge_tui.checks.tasks.ternary_training.explained import explained
from judge_tui.checks.tasks.ternary_training.layer import Layer, few
from judge_tui.checks.tasks.ternary_training.layers import NOT_ITS_WEIGHTS
from judge_tui.checks.tasks.ternary_training.levels import LIMIT, Answer, Rule
from judge_tui.checks.tasks.ternary_training.moving import MOVED
from judge_tui.checks.tasks.ternary_training.reading import projected
from judge_tui.checks.tasks.ternary_training.roles import GROUP, PROJECT, inputs_of
from judge_tui.checks.tasks.ternary_training.rows import hold_rows
from judge_tui.checks.tasks.ternary_training.stale import AFTER_UPDATE, after_updates
from judge_tui.checks.tasks.ternary_training.stale_gradients import GRADIENT
from judge_tui.checks.tasks.ternary_training.steps import STEPS
from judge_tui.checks.tasks.ternary_training.stored_forms import hold_stored_forms
from judge_tui.checks.tasks.ternary_training.thresholds import fixed_threshold
from judge_tui.checks.tasks.ternary_training.written_back import ADDED_UP
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["COARSE", "projection"]

Array = npt.NDArray[Any]

#: Thresholds in units of mean|W| that the literature takes in place of the nearest level (0.7: Li, Zhang
#: and Liu, "Ternary Weight Networks", 2016).
_OTHER_RULES = (0.6, 0.8)

#: |W|/s that a signed byte holds no more, once it is rounded.
_EIGHT_BITS = 127.0
#: Inputs that a layer rounds to a few bits move its answers by less than this, relative to their norm.
COARSE = 0.25
#: Inputs that 8 bits hold exactly move them by no more than this.
_FINE = 1e-4


@check(
    "projection",
    "projected weights",
    establishes="Every projected weight is s·{-1, 0, 1} within 1e-5, s = mean|W| per group of 128.",
    version=21,
    budget=120,
)
def projection(bench: Bench, found: Findings) -> str:
    """Project draws by the layer's own answers to unit vectors, else by the projection alone."""
    subject = _Subject(bench, found)
    if subject.layer is not None and (wrong := hold_rows(bench, found, subject.layer, subject.out)):
        return wrong
    answers: list[Answer] = []
    refused: list[str] = []
    own = own_sizes(bench)
    for draw in draws(bench, subject.out):
        try:
            with own.pace(work(draw.weight.shape)), bench.answers.one() as asked:
                answers.append(Answer(draw, subject(draw.weight)))
        except Raised as fault:
            told, asked.fine = "" if draw.even else refusal(bench.submission, fault), None
            if not told:
                raise _named(fault, str(draw)) from fault
            refused.append(f"{draw.weight.shape}")
            found.claim(
                f"a width of {draw.weight.shape[1]} is projected", False, measured=told,
                otherwise=Verdict.WARN,
                file=fault.file, line=fault.line, note="The last group of a row is shorter than 128 then.",
            )  # fmt: skip
    for one, draw in about(bench, own, subject.out):
        with own.trying(one, work(draw.weight.shape)), bench.answers.one():
            answers.append(Answer(draw, subject(draw.weight)))
    summary = _judged(found, answers, subject)
    own.tell(found)
    if found.verdict is not Verdict.FAIL:
        _repeated(bench, found, subject)
        _kept(bench, found, subject)
        _on_inputs(bench, found, subject)
        _default(bench, found, subject)
    if found.verdict is not Verdict.FAIL and subject.layer is not None:
        rule = Rule.seen(answers, subject.transposed)
        if wrong := in_other_modes(bench, found, subject.layer, subject.out, rule):
            return wrong
        if wrong := hold_stored_forms(bench, found, subject.layer, subject.out, rule):
            return wrong
        after_updates(bench, found, subject.layer, subject.out, rule)
    if found.verdict is not Verdict.FAIL:
        summary += _in_single(found, answers, subject)
    if found.verdict is Verdict.WARN and refused:
        summary += f"; refuses ragged groups: {', '.join(refused)}"
    return _first(found) or summary


def _in_single(found: Findings, answers: list[Answer], subject: _Subject) -> str:
    """Whether it computes in float32 what it was given in float64, as a clause."""
    fine = not levels.single(answers)
    found.claim(
        "projected in the precision of the weights", fine, measured="float64" if fine else "float32",
        limit="float64", otherwise=Verdict.WARN, **({} if fine else subject.place),
    )  # fmt: skip
    return "" if fine else "; in float32, on float64 weights"


def _first(found: Findings) -> str:
    """The claim that failed after the levels were judged, which its own summary does not tell."""
    bad = [item for item in found.evidence if item.ok is False and item.quantity.startswith(_LATER)]
    return f"{bad[0].quantity}: {bad[0].measured}" if bad else ""


_ANSWERS = "answers to inputs"
_SECOND = "weights of a second forward of one layer"
_LATER = (
    "projected weights in a process of their own",
    "latent weights after a forward",
    "default group size",
    EVALUATED,
    ADDED_UP,
    AFTER_UPDATE,
    GRADIENT,
    MOVED,
    *STEPS,
    _SECOND,
    _ANSWERS,
)


class _Subject:
    """What projects: the layer, or the projection by itself where a layer is given projected weights."""

    def __init__(self, bench: Bench, found: Findings) -> None:
        self.bench = bench
        self.layer: Layer | None = None
        self.transposed = False
        self.out = few(bench.rng("few"))
        self.worker = None
        alone = PROJECT.name in bench.bindings
        try:
            self.layer = Layer(bench)
        except (Unbound, Skipped):
            if not alone and (fault := bench.bindings.broken.get(PROJECT.name)):
                raise fault from None
            if not alone:
                raise
        if self.layer is not None:
            self.transposed = self.layer.transposed
            self.out = self.layer.whole(bench.rng("few"))
            self._settle(self.layer, alone, found)
        binding = self.layer.binding if self.layer is not None else bench.binding(PROJECT.name)
        self.role = binding.role
        self.place: dict[str, Any] = {"file": binding.file, "line": binding.line or None}
        found.note("projected by", binding.target, file=binding.file, line=binding.line or None)

    def __call__(self, weight: Array, *, worker: Any = None) -> Array:
        """The projected weights (out, in)."""
        if self.layer is not None:
            return self.layer.effective(weight, worker=worker)
        given = np.ascontiguousarray(weight.T) if self.transposed else weight
        inputs = inputs_of(
            given, np.zeros(len(given)), np.zeros((1, given.shape[1])), np.zeros((1, len(given)))
        )
        value = self.bench.call(PROJECT.name, inputs, worker=worker).value("projected")
        made = projected(value, given, GROUP)
        return made.T if self.transposed else made

    def _settle(self, layer: Layer, alone: bool, found: Findings) -> None:
        """Whether the layer's answers show projected weights at all.

        Raises:
            Unbound: They do not, and nothing else projects.
        """
        one, other = (mixed(self.bench.rng("settle", k), (self.out, GROUP)) for k in range(2))
        made = layer.effective(one)
        if np.allclose(made, one, rtol=1e-6, atol=1e-9) and not layer.projects:
            why = "multiplies by the weights that it is given, as any linear layer"
        elif not layer.follows(one, other):
            why = NOT_ITS_WEIGHTS
        elif not (why := layer.unsuited(one)):
            return
        if not alone:
            raise Unbound("project", [f"{layer.binding.target} {why}, and no projection was found beside it"])
        found.note("the layer", f"{layer.binding.target} {why}", **layer.place)
        self.layer = None


def _judged(found: Findings, answers: list[Answer], subject: _Subject) -> str:
    """Hold the answers against the levels, then the levels against the weights."""
    grouping, off = levels.settled(answers, subject.transposed)
    for asked, error in zip(subject.bench.answers.answered, off, strict=True):
        asked.fine = bool(error <= LIMIT)
    worst = int(np.argmax(off))
    table = (("weights", "distance"), *((str(a.draw), f"{d:.2g}") for a, d in zip(answers, off, strict=True)))
    why = cause(answers, subject.transposed) if off[worst] > LIMIT else ""
    found.limit(
        "projected weights, largest distance from s·{-1, 0, 1} over max(1, s)",
        off[worst],
        LIMIT,
        table=table,
        note="; ".join(filter(None, (f"worst: {answers[worst].draw}", grouping.name, why))),
        **subject.place,
    )
    if off[worst] > LIMIT:
        told = f"{off[worst]:.2g}" if np.isfinite(off[worst]) else "not finite,"
        told = f"{told} off s·{{-1, 0, 1}}" if np.isfinite(off[worst]) else "not finite"
        return f"projected weights are {told}" + (f": {why}" if why else f" at {answers[worst].draw}")
    found.note("groups", grouping.name, note="The challenge says 128, and not along what.")
    return _chosen(found, answers, subject, off[worst])


def _chosen(found: Findings, answers: list[Answer], subject: _Subject, off: float) -> str:
    grouping = levels.settled(answers, subject.transposed)[0]
    chosen = levels.choice(answers, grouping, subject.transposed)
    threshold = chosen.threshold
    zero_at = "weights at s/2 become 0" if chosen.ties == 1 else "weights at s/2 become ±s"
    found.note(
        "weights at exactly s/2 that become 0", chosen.ties, note="Either neighbour is as near as the other."
    )
    if chosen.flipped:
        found.claim(
            "levels of the other sign",
            False,
            measured=chosen.flipped,
            limit=0,
            unit="weights",
            note=f"their least |W|/s: {chosen.flipped_from:.4g}",
            **subject.place,
        )
        told = f"{chosen.flipped} of {chosen.count} weights have the sign of their projection turned"
        if chosen.flipped_from >= _EIGHT_BITS:
            wraps = f"each at |W|/s over {_EIGHT_BITS:g}: it wraps around as 8 bits do before it is clipped"
            return f"{told}, {wraps}"
        why = explained(_pairs(answers), grouping, subject.transposed)
        return f"{told}: {why}" if why else told
    fine = chosen.wrong == 0
    known = _OTHER_RULES[0] <= threshold <= _OTHER_RULES[1]
    found.claim(
        "weights that are not at their nearest level",
        fine,
        measured=chosen.wrong,
        limit=0,
        unit="weights",
        otherwise=Verdict.AMBIGUOUS if known else Verdict.FAIL,
        note=f"largest |W|/s that became 0: {chosen.below:.4g}; smallest that became ±s: {chosen.above:.4g}",
        **subject.place,
    )
    if fine:
        ties = f"; {zero_at}" if chosen.ties in (0.0, 1.0) else ""
        return f"every weight within {off:.1e} of s·{{-1, 0, 1}}, {grouping.name}{ties}"
    if known:
        return (
            f"levels change at {threshold:.3g}·s and not at s/2: another known rule; "
            "the challenge says projected, and no threshold"
        )
    if chosen.below == 0.0 or chosen.above < 1e-2:
        if fixed := fixed_threshold(subject, subject.out):
            return (
                f"levels change at |W| = {fixed:.3g}, whatever s is: in rows of large weights none becomes 0"
            )
        return "no weight becomes 0: two levels, not three"
    told = f"{chosen.wrong} of {chosen.count} weights are not at their nearest level"
    if np.isfinite(threshold):
        return f"{told}: levels change at {threshold:.3g}·s"
    why = explained(_pairs(answers), grouping, subject.transposed)
    return f"{told}: {why or 'levels follow no threshold'}"


def _pairs(answers: list[Answer]) -> list[tuple[Array, Array]]:
    return [(answer.draw.weight, answer.projected) for answer in answers]


def _repeated(bench: Bench, found: Findings, subject: _Subject) -> None:
    """The first draw in another process: nothing may be kept from earlier calls."""
    weight = mixed(bench.rng("fresh"), (subject.out, GROUP))
    with bench.fresh() as worker:
        alone = subject(weight, worker=worker)
    here = subject(weight)
    same = bool(np.allclose(alone, here, rtol=LIMIT, atol=LIMIT))
    told = "the same" if same else "others than after other calls"
    found.claim(_LATER[0], same, measured=told, limit="the same", **subject.place)


def _kept(bench: Bench, found: Findings, subject: _Subject) -> None:
    """The latent weights must outlive the projection."""
    if subject.layer is None:
        return
    weight = mixed(bench.rng("latent"), (subject.out, GROUP))
    held = subject.layer.latent(subject.layer.forward(weight, np.eye(GROUP)[:4]))
    if held is not None:
        same = bool(np.allclose(held, weight, rtol=1e-3, atol=1e-6))
        told = "as they were" if same else "overwritten"
        if not same and np.isfinite(held).all() and np.allclose(held, subject(weight), rtol=1e-3, atol=1e-6):
            told = "overwritten with their projection"
        found.claim(_LATER[1], same, measured=told, limit="as they were", **subject.place)
        evaluated(found, subject.layer, weight, np.eye(GROUP)[:4])


def _on_inputs(bench: Bench, found: Findings, subject: _Subject) -> None:
    """Unit vectors showed the weights; other inputs, and a second call, must meet the same ones."""
    layer = subject.layer
    if layer is None:
        return
    weight = mixed(bench.rng("inputs"), (subject.out, 2 * GROUP))
    effective, rng = layer.effective(weight), bench.rng("ordinary")
    rows = bench.sizes("ordinary").between(3, 40)
    inputs = {
        "that 8 bits hold": exact_inputs(rng, rows, 2 * GROUP),
        "of no particular form": rng.standard_normal((rows, 2 * GROUP)),
    }
    for name, x in inputs.items():
        run = layer.forward(weight, x)
        own = layer.forward(weight, 0.0 * x).y
        error = relative_error(run.y - own, x @ effective.T)
        found.limit(
            f"{_ANSWERS} {name} against the projected weights times them, relative error per row",
            error, _FINE if name.startswith("that") else COARSE,
            otherwise=Verdict.WARN if error <= COARSE else Verdict.FAIL, **subject.place,
        )  # fmt: skip
        if run.returned.instance is not None and name.startswith("that"):
            same = bool(np.allclose(layer.effective(weight, on=run), effective, rtol=LIMIT, atol=LIMIT))
            told = "those of the first" if same else "others"
            found.claim(_SECOND, same, measured=told, limit="those of the first", **subject.place)


def _default(bench: Bench, found: Findings, subject: _Subject) -> None:
    """A group size that is told may be right where the submission's own default is not."""
    binding = bench.binding(subject.role)
    if not binding.takes("group_size"):
        return
    param = next(item for item in PROJECT.params if item.name == "group_size")
    inventory = bench.load(binding.file)
    owner, _, method = binding.name.rpartition(".")
    signatures = [f["params"] for f in inventory.get("functions", ()) if f["name"] == binding.name]
    for cls in inventory.get("classes", ()):
        if cls["name"] == owner:
            signatures += [cls["params"], *(m["params"] for m in cls["methods"] if m["name"] == method)]
    for item in (item for signature in signatures for item in signature or ()):
        default = item.get("default")
        if param.means(item["name"]) and isinstance(default, int) and not isinstance(default, bool):
            found.claim(
                _LATER[2], default == GROUP, measured=default, limit=GROUP, unit="weights",
                otherwise=Verdict.WARN, note="It was told 128 for the figures above.", **subject.place,
            )  # fmt: skip


def _named(fault: Fault, where: str) -> Fault:
    fault.message = f"{fault.message} ({where})"
    return fault
