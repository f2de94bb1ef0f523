"""Whether the forward keeps O, L and the inputs for the backward, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.backwards.storing import entry_name, stored_at, unpacked
from judge_tui.checks.tasks.flash_attention_bwd.cached import Entry, entries
from judge_tui.checks.tasks.flash_attention_bwd.gate import wholly_wrong
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.probing import Probe
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, gradients, posed
from judge_tui.checks.tasks.flash_attention_bwd.weighed import least_bytes, weighed
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["cache_minimality"]

#: N, D and tiles of a head, which cannot be taken for each other; long enough that a flat list is one entry.
_ROWS, _WIDTHS, _TILES = (66, 90), (5, 8), (11, 24)
#: What the contract has the forward keep; O is kept even where a backward in two walks ignores it.
_CONTRACT = ("Q", "K", "V", "O", "L")
#: What may stand in the place of L, one number per row each.
_FOR_L = (("m", "l"), ("m", "1/l"), ("L in base 2",), ("-L",))
_PAIRS = ("P", "S", "exp(S - m)")
_LENGTHS = (256, 512)
_MOST_GROWTH = 1.5
_MOST_PROBES = 40
_RIGHT = 1e-3


@dataclass(frozen=True, slots=True)
class _Judged:
    """An entry with what was found of it.

    Attributes:
        entry: The entry.
        name: What the source calls it.
        status: ``contract``, ``used``, ``dead``, ``scratch``, ``spare``, ``pairs``, ``free`` or ``small``.
        read: Whether NaN in its place shows.
        used: Whether other numbers in its place show.
        why: One clause.
    """

    entry: Entry
    name: str
    status: str
    read: bool
    used: bool
    why: str = ""


@check(
    "cache_minimality",
    "what the cache holds",
    establishes="The forward keeps O, L (or m and l) and the inputs, nothing of size (N, N), and "
    "nothing that the backward never uses; by the kernel's count too, wherever it lies.",
    roles=("forward", "backward"),
    version=2,
)
def cache_minimality(bench: Bench, found: Findings) -> str:
    """Name every entry by its numbers, change each, and follow the bytes as N doubles."""
    attention = Attention(bench)
    sizes = bench.sizes("batch")
    shape, tile = (1, 1, sizes.between(*_ROWS), sizes.between(*_WIDTHS)), sizes.between(*_TILES)
    problem = posed(bench.rng("batch"), shape, tile, attention.causal[0])
    growth = _growth(bench, attention, found)
    run = attention.run(problem)
    probe = Probe(attention, run)
    listed = entries(attention, run)
    nothing = not _something(attention, found, probe, listed, problem)
    judged = _judged(bench, probe, listed, problem)
    _noted(found, judged, problem)
    bad = _decide(bench, found, judged)
    if nothing:
        return "its gradients are wrong, and depend on nothing that its forward keeps"
    if growth > _MOST_GROWTH:
        kept = [j.name for j in judged if j.status == "pairs"]
        what = f"{kept[0]} holds" if kept else "it holds"
        return f"what the forward keeps grows as N^{growth:.2f}: {what} something for every pair of rows"
    seen = weighed(bench, attention, found, listed, problem)
    told = _summary(judged, bad, problem)
    return f"{seen}; {told}" if seen else told


def _growth(bench: Bench, attention: Attention, found: Findings) -> float:
    """Exponent of the bytes that a forward leaves behind, whatever holds them, as N doubles."""
    held = []
    attention.run(posed(bench.rng("warm"), (1, 1, 64, 8), 32, attention.causal[0]))
    for length in _LENGTHS:
        run = attention.run(
            posed(bench.rng("growth", length), (1, 1, length, 8), 32, attention.causal[0]), memory=True
        )
        value = run.returned.result.counters.get("held_bytes", 0)
        held.append(max(float(value), 1.0) if isinstance(value, int | float) else 1.0)
        attention.release(run)
    growth = math.log(max(held[1], 1e4) / max(held[0], 1e4)) / math.log(_LENGTHS[1] / _LENGTHS[0])
    found.limit(
        f"growth exponent of the bytes that a forward leaves behind, N = {_LENGTHS[0]} to {_LENGTHS[1]}",
        growth,
        _MOST_GROWTH,
        curve=Curve(
            "N",
            "bytes held after the forward",
            tuple(zip(map(float, _LENGTHS), held, strict=True)),
            log_x=True,
            log_y=True,
        ),
        **({} if growth <= _MOST_GROWTH else attention.forward.place),
    )
    return growth


def _something(
    attention: Attention, found: Findings, probe: Probe, listed: Sequence[Entry], problem: Problem
) -> bool:
    """Whether the gradients depend on what is listed, or can do without; wrong ones have failed.

    Raises:
        Skipped: They are right whatever it holds.
    """
    sized = [entry for entry in listed if entry.sized and entry.what in ("Q", "K", "V", "L")] or list(listed)
    if any(probe.used(entry) for entry in sized[:8]):
        return True
    error = wholly_wrong(gradients(problem), probe.baseline)
    if not error < _RIGHT:
        found.limit("gradients that depend on nothing kept, relative error per head", error, _RIGHT,
                    **attention.place)  # fmt: skip
        return False
    if not probe.given:
        raise Skipped("the gradients are right whatever it holds: what counts cannot be reached")
    return True


def _judged(bench: Bench, probe: Probe, listed: Sequence[Entry], problem: Problem) -> list[_Judged]:
    names = _names(bench, listed)
    what = {entry.what for entry in listed}
    instead = next((form for form in _FOR_L if "L" not in what and set(form) <= what), ())
    settings = [
        p for p in bench.contract.by_name["forward"].params if p.name in ("tile_size", "tile_k", "causal")
    ]
    found: list[_Judged] = []
    seen: set[str] = set()
    for index, (entry, name) in enumerate(zip(listed, names, strict=True)):
        captured = bool(entry.path) and entry.path[-1][0] == "c" and not entry.sized
        probed = index < _MOST_PROBES and entry.kind != "none" and not captured
        read = probed and probe.read(entry)
        used = probed and probe.used(entry)
        # A tile or a switch that is read is no array's size, whatever moves when it changes.
        setting = any(p.kind in ("int", "bool") and p.means(name) for p in settings)
        status, why = _status(
            entry, problem, instead, seen, used or not probed or (setting and read), setting
        )
        if status == "dead" and probe.scratch(entry):
            status, why = "scratch", "the backward works in it and reads nothing from before"
        if captured:
            status = "small" if status != "contract" else status
        seen.add(entry.what)
        found.append(_Judged(entry, name, status, read, used, why))
    return found


def _status(
    entry: Entry, problem: Problem, instead: Sequence[str], seen: set[str], used: bool, setting: bool
) -> tuple[str, str]:
    """What an entry is to the contract, and why."""
    length = problem.case.q.shape[2]
    free = entry.alias[0] if entry.alias else "another entry's" if entry.twin is not None else ""
    if entry.what in (*_CONTRACT, *instead):
        if entry.what not in seen or free or entry.piece:
            return "contract", f"the caller's {entry.alias[0]}" if entry.alias else ""
        return "spare", f"a second copy of {entry.what}"
    if not entry.sized:
        if entry.kind == "none" or (used and (setting or not _of_shape(entry, problem))):
            return "used", ""
        return "small", "it follows from the shapes" if used else "nothing in its place changes a gradient"
    if entry.what in _PAIRS or int(np.prod(entry.shape)) >= length * length / 2:
        return "pairs", f"it is {entry.what}, N × N" if entry.what else "of the size of N × N"
    if free:
        return "free", f"it is the memory of {free}, so it costs no bytes"
    if not used:
        return "dead", "nothing in its place changes a gradient"
    return (
        "spare",
        f"it is {entry.what}, which follows from the rest" if entry.what else "it follows from Q, K and V",
    )


def _of_shape(entry: Entry, problem: Problem) -> bool:
    """Whether a scalar is a size, or the scale 1/√D."""
    width = problem.case.q.shape[-1]
    numbers = (*problem.case.q.shape, width**-0.5, width**0.5)
    return entry.value is not None and any(abs(float(entry.value) - n) < 1e-6 for n in numbers)


def _names(bench: Bench, listed: Sequence[Entry]) -> list[str]:
    places = [int(e.path[-1][1]) for e in listed if len(e.path) == 1 and e.path[-1][0] == "i"]
    variables = unpacked(bench, 1 + max(places)) if places else ()
    return [entry_name(e.path, variables) if e.path else e.handle for e in listed]


def _noted(found: Findings, judged: Sequence[_Judged], problem: Problem) -> None:
    head = ("entry", "is", "shape", "bytes", "read", "used", "alias of", "so")
    rows = [
        (
            j.name,
            j.entry.what,
            "×".join(map(str, j.entry.shape)) or j.entry.kind,
            str(j.entry.nbytes or ""),
            "yes" if j.read else "no",
            "yes" if j.used else "no",
            ", ".join(j.entry.alias),
            j.why or j.status,
        )
        for j in judged[:64]
    ]
    found.note("entries that the forward hands on", len(judged), unit="entries", table=(head, *rows))
    held = sum(j.entry.nbytes for j in judged if j.entry.twin is None)
    least = least_bytes(problem)
    found.note(
        f"their bytes at (B, H, N, D) = {problem.case.q.shape}",
        held,
        limit=least,
        unit="B",
        note=f"{held / least:.2f} times O, L, Q, K and V",
    )


def _decide(bench: Bench, found: Findings, judged: Sequence[_Judged]) -> list[_Judged]:
    """Note what is beyond the contract; those entries, worst first."""
    order = ("pairs", "dead", "scratch", "spare", "free", "small")
    bad = sorted((j for j in judged if j.status in order), key=lambda j: order.index(j.status))
    text = {
        "pairs": "holds nothing for every pair of rows",
        "dead": "is used by the backward",
        "scratch": "carries something to the backward",
        "free": "is used by the backward",
        "small": "is needed by the backward",
        "spare": "follows from nothing else",
    }
    for j in bad[:12]:
        if j.status == "small" and j.entry.path and j.entry.path[-1][0] == "c":
            continue
        if j.status == "free" and j.used:
            continue
        file, line = stored_at(bench, j.entry.path)
        found.claim(
            f"{j.name} {text[j.status]}",
            False,
            measured=f"{j.entry.nbytes} B" if j.entry.sized else j.entry.kind,
            otherwise=Verdict.FAIL if j.status in ("pairs", "dead") else Verdict.WARN,
            file=file,
            line=line,
            note=j.why,
        )
    if not any(j.status in ("pairs", "dead") for j in bad):
        found.claim(
            "every array beyond O, L and the inputs is used", True, measured=len(judged), unit="entries"
        )
    return bad


def _summary(judged: Sequence[_Judged], bad: Sequence[_Judged], problem: Problem) -> str:
    count = f"{len(judged)} entries" if len(judged) != 1 else "1 entry"
    held = sum(j.entry.nbytes for j in judged if j.entry.twin is None)
    size = f"{held / least_bytes(problem):.2f} × the bytes of O, L, Q, K, V"
    worst = [j for j in bad if j.status in ("pairs", "dead")]
    if worst:
        names = ", ".join(f"{j.name} ({j.why})" for j in worst[:3])
        more = f" and {len(worst) - 3} more" if len(worst) > 3 else ""
        return f"{count}, {len(worst)} beyond what a backward needs: {names}{more}; {size}"
    kept = ", ".join(dict.fromkeys(j.entry.what for j in judged if j.status == "contract"))
    unread = [j.entry.what for j in judged if j.status == "contract" and not j.read and j.entry.what == "O"]
    text = f"keeps {kept}" + (" (O as the contract has it, though its backward ignores it)" if unread else "")
    told = [
        j.name for j in bad if j.status in ("scratch", "spare") or (j.status == "small" and not _hidden(j))
    ]
    return f"{text}; {size}" + (f"; beyond: {', '.join(told[:6])}" if told else "")


def _hidden(j: _Judged) -> bool:
    return bool(j.entry.path) and j.entry.path[-1][0] == "c"
