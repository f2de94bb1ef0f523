"""Fused softmax and top-k: claims that wait for the checks of the CUDA task."""

from __future__ import annotations

from seed_claims.claim import Section

__all__ = ["CONTRADICTIONS", "FUSE"]

FUSE = Section("fuse", "Fused softmax and top-k")
CONTRADICTIONS = Section("fuse-x", "Fused softmax and top-k: contradictions", "Settled")

_CLAIMS = (
    ("C030", "all", "GLM-5 reads every logit once, the others three times"),
    ("C031", "GLM-5", "the running maximum and sum give softmax"),
    ("C032", "GLM-5", "partial results of lanes merge exactly"),
    ("C033", "all", "ranking logits is ranking probabilities"),
    ("C034", "GLM-5", "K up to 32, four instances"),
    ("C035", "Qwen3-6", "K up to 256, five instances"),
    ("C036", "MiniMax", "K is rounded up to 10, 50 or 100"),
    ("C037", "GLM-5", "the merge is wrong with several warps per block"),
    ("C038", "GLM-5", "it is right with one warp per block"),
    ("C039", "GLM-5", "one warp owns a row"),
    ("C040", "MiniMax", "a launch names an argument that is not declared"),
    ("C041", "MiniMax", "launch bounds with a template parameter do not compile"),
    ("C042", "MiniMax", "lists of more than 32 entries are copied by one warp alone"),
    ("C043", "MiniMax", "two arrays of THREADS per thread in the merge"),
    ("C044", "Qwen3-6", "insertion O(log K), final sort O(K²)"),
    ("C045", "Qwen3-6", "the second kernel's vector loads are aligned"),
    ("C046", "Qwen3-6", "two functions of the second kernel are never called"),
    ("C047", "Qwen3-6", "warps merge in turn behind barriers"),
    ("C048", "all", "no whole softmax is written"),
    ("C049", "all", "stable against an offset"),
    ("C050", "all", "large vocabularies work"),
    ("C051", "GLM-5, MiniMax", "bound by bandwidth"),
    ("C052", "Qwen3-6", "calls itself bound by arithmetic"),
    ("C053", "GLM-5, MiniMax", "saves three and four times the traffic"),
    ("C054", "GLM-5", "about 2 KB of shared memory"),
    ("C055", "GLM-5", "insertion O(K) per hit"),
    ("C056", "Qwen3-6", "tested at V = 50257, K = 256"),
)
_DISPUTED = (
    ("X01", "GLM-5", "right, or wrong with several warps per block"),
    ("X06", "Qwen3-6", "twelve times more reads"),
    ("X07", "Qwen3-6", "two passes or three"),
    ("X08", "GLM-5, MiniMax", "1.5 and 0.8 operations per byte, both called right"),
    ("X09", "MiniMax", "launch bounds must not depend on a template"),
    ("X10", "MiniMax", "six bugs stop compilation"),
    ("X11", "MiniMax", "no templates, and bugs in template parameters"),
    ("X24", "Qwen3-6", "credited with vector loads whose function is dead"),
    ("X25", "Qwen3-6", "its analysis is praised and called wrong"),
    ("X26", "Qwen3-6", "50257 is LLaMA's vocabulary"),
    ("X52", "all", "verdicts on files that were not read"),
    ("X54", "MiniMax", "charged for a structure that GLM-5 has too"),
    ("X56", "Qwen3-6", "rows of 50257 floats are aligned for vector loads"),
)

for _claim in _CLAIMS:
    FUSE.listed(*_claim, "fuse")
for _claim in _DISPUTED:
    CONTRADICTIONS.listed(*_claim, "fuse")
