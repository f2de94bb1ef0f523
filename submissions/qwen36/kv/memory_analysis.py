"""
Memory analysis of the KV-cache.

Per token and sequence the cache takes

    2 * num_layers * num_kv_heads * head_dim * bytes_per_element

bytes (2 for keys and values), so it grows linearly with batch * sequence
length and soon outgrows the weights. This module answers the practical
questions: how large is it, how long a context fits on a given GPU, and what do
GQA and smaller element types buy.

Units: GiB = 2**30 bytes. Weights are counted as num_params * 2 (fp16).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Sequence

GIB = 2 ** 30
FP16_BYTES = 2
RESERVE_FRACTION = 0.10     # activations, workspace, fragmentation, CUDA context


@dataclass(frozen=True)
class ModelSpec:
    """The sizes of a model that decide its memory."""

    name: str
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    num_params: float

    @property
    def d_model(self) -> int:
        return self.num_heads * self.head_dim

    @property
    def attention_kind(self) -> str:
        """MHA, GQA-<group size> or MQA."""
        if self.num_kv_heads == self.num_heads:
            return "MHA"
        if self.num_kv_heads == 1:
            return "MQA"
        return f"GQA-{self.num_heads // self.num_kv_heads}"

    def weight_bytes(self, dtype_bytes: float = FP16_BYTES) -> float:
        """Bytes of the weights."""
        return self.num_params * dtype_bytes

    def kv_bytes_per_token(self, dtype_bytes: float = FP16_BYTES) -> float:
        """Bytes of keys and values for one token, all layers."""
        return 2 * self.num_layers * self.num_kv_heads * self.head_dim * dtype_bytes

    def kv_bytes(
        self, seq_len: int, batch_size: int = 1, dtype_bytes: float = FP16_BYTES
    ) -> float:
        """Bytes of the whole cache."""
        return batch_size * seq_len * self.kv_bytes_per_token(dtype_bytes)

    def crossover_tokens(self, dtype_bytes: float = FP16_BYTES) -> int:
        """Tokens (batch * seq_len) at which the cache is as large as the weights."""
        return int(self.weight_bytes(dtype_bytes) / self.kv_bytes_per_token(dtype_bytes))


@dataclass(frozen=True)
class GPUSpec:
    """Memory and bandwidth of a GPU."""

    name: str
    memory_gib: float
    bandwidth_gb_s: float

    @property
    def memory_bytes(self) -> float:
        return self.memory_gib * GIB


MODELS: List[ModelSpec] = [
    ModelSpec("Llama-2-7B", 32, 32, 32, 128, 6.738e9),
    ModelSpec("Llama-2-13B", 40, 40, 40, 128, 13.016e9),
    ModelSpec("Llama-2-70B", 80, 64, 8, 128, 68.977e9),
    ModelSpec("Llama-3-8B", 32, 32, 8, 128, 8.030e9),
    ModelSpec("Mistral-7B", 32, 32, 8, 128, 7.242e9),
    # no official numbers: a dense stand-in at GPT-3 width with more layers
    ModelSpec("GPT-4-class", 120, 96, 96, 128, 220e9),
]

GPUS: List[GPUSpec] = [
    GPUSpec("RTX 4090 (24GB)", 24, 1008),
    GPUSpec("A100 (40GB)", 40, 1555),
    GPUSpec("L40S (48GB)", 48, 864),
    GPUSpec("A100 (80GB)", 80, 2039),
    GPUSpec("H100 (80GB)", 80, 3350),
]


def get_model(name: str) -> ModelSpec:
    """Look a model up by name."""
    return next(model for model in MODELS if model.name == name)


def get_gpu(name: str) -> GPUSpec:
    """Look a GPU up by the beginning of its name; the largest memory wins."""
    return max((gpu for gpu in GPUS if gpu.name.startswith(name)), key=lambda g: g.memory_gib)


def find_max_context(
    model: ModelSpec,
    gpu: GPUSpec,
    batch_size: int = 1,
    kv_dtype_bytes: float = FP16_BYTES,
    weight_dtype_bytes: float = FP16_BYTES,
    reserve_fraction: float = RESERVE_FRACTION,
) -> int:
    """
    Longest context per sequence that fits beside the weights.

        tokens = (memory * (1 - reserve) - weights) / (batch * bytes_per_token)

    Returns 0 if the weights alone do not fit. The limit is memory only: the
    positions that the model was trained on are not considered.
    """
    usable = gpu.memory_bytes * (1.0 - reserve_fraction)
    available = usable - model.weight_bytes(weight_dtype_bytes)
    if available <= 0:
        return 0
    return int(available // (batch_size * model.kv_bytes_per_token(kv_dtype_bytes)))


def find_max_batch(model: ModelSpec, gpu: GPUSpec, seq_len: int) -> int:
    """Most sequences of ``seq_len`` tokens that fit beside the weights."""
    return find_max_context(model, gpu) // seq_len


def memory_growth(
    model: ModelSpec, seq_lens: Sequence[int], batch_size: int = 1
) -> List[Dict[str, float]]:
    """Cache size against sequence length; linear, the slope is bytes_per_token."""
    rows = []
    for seq_len in seq_lens:
        kv = model.kv_bytes(seq_len, batch_size)
        rows.append({
            "seq_len": seq_len,
            "kv_gib": kv / GIB,
            "total_gib": (kv + model.weight_bytes()) / GIB,
            "kv_share": kv / (kv + model.weight_bytes()),
        })
    return rows


def decode_latency_bound(model: ModelSpec, gpu: GPUSpec, seq_len: int, batch_size: int = 1) -> float:
    """
    Lower bound in milliseconds of one decode step, from bandwidth alone: the
    weights and the whole cache are read once.
    """
    bytes_read = model.weight_bytes() + model.kv_bytes(seq_len, batch_size)
    return bytes_read / (gpu.bandwidth_gb_s * 1e9) * 1e3


def compare_model_sizes(
    models: Sequence[ModelSpec] = tuple(MODELS), seq_len: int = 4096, batch_size: int = 1
) -> List[Dict[str, object]]:
    """One row per model: weights, cache per token, cache at ``seq_len``, crossover."""
    return [
        {
            "model": model.name,
            "attention": model.attention_kind,
            "weights_gib": model.weight_bytes() / GIB,
            "kv_kib_per_token": model.kv_bytes_per_token() / 1024,
            "kv_gib": model.kv_bytes(seq_len, batch_size) / GIB,
            "mha_over_actual": model.num_heads / model.num_kv_heads,
            "crossover_tokens": model.crossover_tokens(),
        }
        for model in models
    ]


# ---- Tables --------------------------------------------------------------------

def print_growth_table(model: ModelSpec, seq_lens: Sequence[int]) -> None:
    """Cache, total and share of the cache for growing contexts."""
    print(f"{model.name}: {model.kv_bytes_per_token():,.0f} bytes per token (fp16)")
    print(f"  {'seq_len':>9} {'KV GiB':>9} {'total GiB':>10} {'KV share':>9}")
    for row in memory_growth(model, seq_lens):
        print(
            f"  {row['seq_len']:>9,} {row['kv_gib']:>9.3f} "
            f"{row['total_gib']:>10.2f} {row['kv_share']:>8.1%}"
        )


def print_model_table(seq_len: int = 4096) -> None:
    """compare_model_sizes as a table."""
    print(f"  {'model':<12} {'attn':<6} {'weights':>9} {'KiB/token':>10} "
          f"{'KV@' + str(seq_len):>10} {'crossover':>11}")
    for row in compare_model_sizes(seq_len=seq_len):
        print(
            f"  {row['model']:<12} {row['attention']:<6} {row['weights_gib']:>5.1f} GiB "
            f"{row['kv_kib_per_token']:>10.1f} {row['kv_gib']:>6.2f} GiB "
            f"{row['crossover_tokens']:>11,}"
        )


def print_max_context_table() -> None:
    """Longest context of every model on every GPU, batch 1, fp16 weights and cache."""
    print(f"  {'model':<12}" + "".join(f"{gpu.name:>17}" for gpu in GPUS))
    for model in MODELS:
        cells = []
        for gpu in GPUS:
            tokens = find_max_context(model, gpu)
            cells.append(f"{tokens:,}" if tokens else "does not fit")
        print(f"  {model.name:<12}" + "".join(f"{cell:>17}" for cell in cells))


def print_dtype_table(model: ModelSpec, gpu: GPUSpec) -> None:
    """Longest context by element type of the cache; metadata not included."""
    for name, dtype_bytes in (("fp16", 2), ("int8", 1), ("int4", 0.5)):
        tokens = find_max_context(model, gpu, kv_dtype_bytes=dtype_bytes)
        print(f"  {name:<6} {model.kv_bytes_per_token(dtype_bytes) / 1024:>7.1f} KiB/token "
              f"{tokens:>10,} tokens")


if __name__ == "__main__":
    print_growth_table(get_model("Llama-2-7B"), [512, 2048, 8192, 32768, 131072])
    print("\nModels, batch 1, fp16:")
    print_model_table()
    print("\nMax context in tokens (fp16, 10% of memory reserved):")
    print_max_context_table()
    llama, h100 = get_model("Llama-2-7B"), get_gpu("H100")
    print(f"\nElement types, Llama-2-7B on {h100.name}:")
    print_dtype_table(llama, h100)
    print(f"\nLlama-2-7B on {h100.name}: {find_max_context(llama, h100):,} tokens, "
          f"{decode_latency_bound(llama, h100, 4096):.1f} ms per step at 4K")
