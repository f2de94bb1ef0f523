"""What is judged: the cache, the decoder or both, as far as a submission offers them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Skipped, Unbound
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.axis_orders import one_headed
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.decoding import ModelSizes
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.ways import Way
from judge_tui.checks.tasks.kv.finding import quantized as compressed
from judge_tui.checks.tasks.kv.finding import rehearsal
from judge_tui.checks.tasks.kv.words.masks import functions_of, masking_of, said_of, texts_of
from judge_tui.checks.tasks.kv.words.sizes import Sizes, mode

__all__ = ["Subject", "called_in_vain", "claims_causal"]

_TRIED = re.compile(r"\S+\.py:\S+: ")
#: What Python says of a cache that is None.
_NO_CACHE = "'NoneType'"
#: Heads, and widths of a head, which are even for positions that are rotated in pairs.
_HEADS, _WIDTHS = (3, 5, 7), (6, 8, 10, 12, 16, 20)
#: Width of a head that groups of 16, 32 and 64 numbers divide.
_CODED = 64
#: Layers of a decoder that is told: what only later ones see too much of shows in a last row from three on.
_LAYERS, _VOCABS = (3, 5), (23, 60)


@dataclass(frozen=True, slots=True)
class Subject:
    """The bound roles of a submission, with ways to set them going.

    Attributes:
        bench: Where it is judged.
        bound: Role → binding.
        gone: Ways of feeding that were rehearsed, and whether they go.
        codes: Whether its cache keeps codes, which give nothing back exactly.
    """

    bench: Bench
    bound: dict[str, Binding]
    gone: dict[Way, bool] = field(default_factory=dict)
    codes: bool = False

    @classmethod
    def of(cls, bench: Bench) -> Subject:
        """Bind, and be sure that there is something to judge.

        Raises:
            Unbound: Neither a cache that can be fed and used, nor a decoder.
            Skipped: There is a quantized cache, and none beside it.
        """
        bindings = bench.bindings
        subject = cls(bench, dict(bindings.found))
        if not subject.mode and not subject.decodes:
            for name in ("step", "append", "prefill"):
                if name in bindings.faults:
                    raise bindings.faults[name]
            # What had no cache to go with was handed none.
            vain = [line for line in called_in_vain(bench, "step") if _NO_CACHE not in line]
            if "quantized" in bindings and not vain:
                raise Skipped("its only cache keeps codes, which give nothing back exactly: see 'quantized'")
            tried = [*bindings.rejected.get("step", ()), *bindings.rejected.get("prefill", ())]
            tried = list(dict.fromkeys(tried))
            raise Unbound("step (or append with attend, or prefill with decode)", tried)
        return subject

    @classmethod
    def of_codes(cls, bench: Bench) -> list[Subject]:
        """Every quantized cache, as any other cache is judged."""
        bound = (compressed.roles_of(bench.bindings.found, prefix) for prefix in compressed.PREFIXES)
        found = [cls(bench, dict(roles), codes=True) for roles in bound if roles is not None]
        return [each for each in found if each.mode]

    @property
    def name(self) -> str:
        """Of its cache: the class, or what makes one."""
        return self.main("create").name

    @property
    def mode(self) -> str:
        """How the cache is used; see :func:`judge_tui.checks.tasks.kv.words.sizes.mode`."""
        return mode(self.bound)

    @property
    def decodes(self) -> bool:
        """Whether there is a decoder."""
        return "prefill" in self.bound and "decode" in self.bound

    def sizes(
        self, batch: int, tokens: int, dtype: str = "float32", *, narrow: bool = False, **more: int
    ) -> Sizes:
        """What a cache is made for: heads, and their width, are drawn once for a check.

        Args:
            batch: Sequences.
            tokens: Room per sequence.
            dtype: Of what is fed.
            narrow: Whether few numbers a token are enough, as where many tokens go in one by one.
            more: Further fields of :class:`~judge_tui.checks.tasks.kv.words.sizes.Sizes`.
        """
        drawn = self.bench.sizes("heads")
        heads, widths = (_HEADS[:2], _WIDTHS[:2]) if narrow else (_HEADS, _WIDTHS)
        width = _CODED if self.codes else drawn.one_of(widths)
        return self.fitted(Sizes(batch, drawn.one_of(heads), tokens, width, dtype, **more))

    def fitted(self, sizes: Sizes) -> Sizes:
        """The same for what the cache can hold: of one that keeps rows, a single head."""
        one = any(one_headed(self.bound[name].layout) for name in ("step", "append") if name in self.bound)
        return replace(sizes, heads=1, query_heads=0) if one else sizes

    def between(self, name: str, least: int, most: int) -> int:
        """A size that is drawn once for a check."""
        return self.bench.sizes(name).between(least, most)

    def cached(self, sizes: Sizes, worker: Worker | None = None, *, counted: bool = False) -> Cached:
        """A new cache; the worker counts its calls where asked to."""
        bench, goes = self.bench, partial(self._goes, sizes.bits)
        worker = worker or bench.worker
        return Cached(worker, self.bound, sizes, lambda: bench.left, counted=counted, goes=goes)

    def _goes(self, bits: int, way: Way) -> bool:
        """Whether a guessed way of feeding goes, tried small in a process of its own."""
        if way not in self.gone:
            with self.bench.fresh() as worker:
                self.gone[way] = rehearsal.goes(worker, self.bound, way, bits)
        return self.gone[way]

    def maker(self, *, dtype: str = "float32", **sizes: Any) -> Maker:
        """What makes decoders with the same weights; ``sizes`` are fields of its sizes that differ."""
        drawn = self.bench.sizes("decoder")
        told = {"layers": drawn.between(*_LAYERS), "vocab": drawn.between(*_VOCABS)}
        if not sizes.keys() & {"heads", "embed", "kv_heads"}:
            heads = drawn.one_of(_HEADS)
            told |= {"heads": heads, "embed": heads * drawn.one_of(_WIDTHS)}
            if self._has_heads_of_its_own():
                told["embed"] = ModelSizes().embed * drawn.between(1, 3)
        told |= sizes
        return Maker(self.bench.worker, self.bound, lambda: self.bench.left, dtype=dtype, sizes=told)

    def _has_heads_of_its_own(self) -> bool:
        """Whether nothing of its decoder is told of heads, by which the width that it is told has to go."""
        made, told = self.bound.get("decoder"), ("heads", "kv_heads", "head_dim")
        heard = any(binding.takes(name) for binding in self.bound.values() for name in told)
        return made is not None and made.takes("embed") and not heard

    def main(self, *names: str) -> Binding:
        """The first of these roles that is bound, else the one that attends."""
        order = (*names, "step", "attend", "attention", "append", "append_many", "read", "decode")
        return next(self.bound[name] for name in order if name in self.bound)

    def defined(self, binding: Binding) -> tuple[str, ...]:
        """Functions and methods of the file that a callable stands in."""
        submission = self.bench.submission
        return () if binding.file == ADAPTER else tuple(functions_of(submission, binding.file))

    def text(self, binding: Binding) -> list[str]:
        """Source of the functions and methods of a callable's name in its file."""
        return texts_of(self.bench.submission, binding)

    def where(self, *names: str) -> dict[str, Any]:
        """``file`` and ``line`` of :meth:`main`; an adapter is no place to look."""
        binding = self.main(*names)
        if binding.file == ADAPTER:
            return {}
        return {"file": binding.file, "line": binding.line or None}


def called_in_vain(bench: Bench, role: str) -> list[str]:
    """Callables that look like a role and were tried, and how each failed; not what there is besides."""
    return [line for line in bench.bindings.rejected.get(role, ()) if _TRIED.match(line)]


def claims_causal(subject: Subject, binding: Binding) -> tuple[str, int] | None:
    """Where a callable, or a function of its file that it calls, speaks of a causal mask: file and line.

    What takes several tokens at once is causal, too, where its text or that of its class says so.
    """
    submission = subject.bench.submission
    said = said_of(submission, binding) if binding.role in ("prefill", "step_many", "append_many") else None
    return masking_of(submission, binding, compared=True) or said
