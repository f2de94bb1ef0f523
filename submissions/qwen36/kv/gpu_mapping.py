"""
How the cached attention maps to a GPU.

    KERNELS              pseudocode: cache append, decode, paged decode, prefill
    *_cost()             FLOPs and bytes of decode and prefill attention
    tensor_core_usage()  how much of an MMA tile carries real rows
    roofline()           memory or compute bound, and the attainable rate

The short version: prefill has S queries per key and runs on Tensor Cores at
full rate. Decode has one query per key, about one FLOP per byte, and is bound
by memory bandwidth whatever the compute units are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List


APPEND_KERNEL = """
// Append one token per sequence. Grid: (batch, kv_heads); block: head_dim threads.
kernel append_kv(k_new, v_new, cache_k, cache_v, seq_lens):
    b, h, d = blockIdx.x, blockIdx.y, threadIdx.x
    pos = seq_lens[b]                       // every sequence has its own position
    cache_k[b, h, pos, d] = k_new[b, h, d]  // consecutive d: one coalesced store
    cache_v[b, h, pos, d] = v_new[b, h, d]
    // seq_lens[b] += 1 afterwards, once per sequence and after all layers
"""

DECODE_KERNEL = """
// One query against S cached keys. Grid: (batch, kv_heads, splits); 4 warps.
// The splits over S fill the GPU when batch * kv_heads is small (flash-decoding).
kernel decode_attention(q, cache_k, cache_v, seq_lens, partial):
    b, h, split = blockIdx
    q_reg  = load q[b, h * group .. (h + 1) * group, :]     // all heads of the group
    m, l, acc = -inf, 0, 0
    for tile in my_tiles(split, seq_lens[b], TILE = 64):
        async copy K[tile], V[tile] -> shared, double buffered (cp.async / TMA)
        s = q_reg . K_tile^T * scale         // GEMV per head; MMA once group >= 8
        s[j] = -inf where tile_start + j >= seq_lens[b]
        m_new = max(m, warp_max(s))
        p     = exp(s - m_new)
        c     = exp(m - m_new)
        l     = l * c + warp_sum(p)
        acc   = acc * c + p . V_tile
        m     = m_new
    partial[b, h, split] = (m, l, acc)       // a small second kernel merges the splits
"""

PAGED_DECODE_KERNEL = """
// The same loop, but the address of a tile goes through the page table.
kernel paged_decode_attention(q, k_pages, v_pages, page_table, seq_lens, out):
    b, h = blockIdx
    for block in 0 .. ceil(seq_lens[b] / BLOCK_SIZE):
        page = page_table[b, block, h]       // one 4-byte read per BLOCK_SIZE tokens
        K_tile = k_pages[page]               // BLOCK_SIZE x head_dim, contiguous
        V_tile = v_pages[page]
        online softmax step as in decode_attention
    // int8 pages: load codes, convert in registers, fold scale into q and zero into l
"""

PREFILL_KERNEL = """
// Tiled causal attention. Grid: (ceil(S / Br), heads, batch); 4-8 warps.
kernel prefill_attention(Q, K, V, O):
    Q_tile = load Br x D rows to shared
    for j in key tiles with tile_start <= last query row:   // skips the causal half
        S_tile = mma_sync(Q_tile, K_tile^T)  // Tensor Cores: Br x Bc x D
        apply causal mask on diagonal tiles only
        online softmax on S_tile
        O_acc  = rescale(O_acc) + mma_sync(P_tile, V_tile)
    O = O_acc / l
"""

KERNELS: Dict[str, str] = {
    "append": APPEND_KERNEL,
    "decode": DECODE_KERNEL,
    "paged_decode": PAGED_DECODE_KERNEL,
    "prefill": PREFILL_KERNEL,
}


@dataclass(frozen=True)
class TensorCoreGPU:
    """Dense fp16 Tensor Core rate, CUDA core rate and memory bandwidth."""

    name: str
    tensor_tflops: float
    cuda_tflops: float
    bandwidth_tb_s: float

    @property
    def ridge(self) -> float:
        """FLOPs per byte from which Tensor Cores, not memory, are the limit."""
        return self.tensor_tflops / self.bandwidth_tb_s


TENSOR_CORE_GPUS: List[TensorCoreGPU] = [
    TensorCoreGPU("RTX 4090", 165.0, 82.6, 1.008),
    TensorCoreGPU("A100-80GB", 312.0, 19.5, 2.039),
    TensorCoreGPU("H100-80GB", 989.0, 66.9, 3.350),
]


@dataclass(frozen=True)
class AttentionCost:
    """Work and traffic of one attention call of one layer."""

    flops: float
    bytes_moved: float

    @property
    def intensity(self) -> float:
        """Arithmetic intensity in FLOPs per byte."""
        return self.flops / self.bytes_moved


def decode_cost(
    seq_len: int,
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    batch_size: int = 1,
    dtype_bytes: float = 2,
) -> AttentionCost:
    """
    One decode step. QK^T and PV take 2 * S * D FLOPs per query head each; all
    keys and values are read once, q and the output are one vector per head.
    """
    flops = batch_size * num_heads * 4.0 * seq_len * head_dim
    cache = 2 * batch_size * num_kv_heads * seq_len * head_dim * dtype_bytes
    vectors = 2 * batch_size * num_heads * head_dim * dtype_bytes
    return AttentionCost(flops, cache + vectors)


def prefill_cost(
    seq_len: int,
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    batch_size: int = 1,
    dtype_bytes: float = 2,
) -> AttentionCost:
    """Causal prefill: half of the S x S score matrix, Q, K, V read and O written once."""
    flops = batch_size * num_heads * 4.0 * head_dim * seq_len * (seq_len + 1) / 2
    heads = 2 * num_heads + 2 * num_kv_heads
    return AttentionCost(flops, batch_size * heads * seq_len * head_dim * dtype_bytes)


def linear_cost(tokens: int, d_in: int, d_out: int, dtype_bytes: float = 2) -> AttentionCost:
    """A projection: the weights are read once for all ``tokens`` of the batch."""
    traffic = d_in * d_out + tokens * (d_in + d_out)
    return AttentionCost(2.0 * tokens * d_in * d_out, traffic * dtype_bytes)


def tensor_core_usage(query_rows: int, tile_m: int = 16) -> float:
    """
    Share of an MMA tile's rows that carry queries. Rows are padded to 16
    (m16n8k16): MHA decode has 1 row (6.25 %), GQA-8 decode 8 rows (50 %).
    """
    padded = -(-query_rows // tile_m) * tile_m
    return query_rows / padded


def roofline(cost: AttentionCost, gpu: TensorCoreGPU) -> Dict[str, object]:
    """Bound, attainable TFLOP/s, share of peak and time on one GPU."""
    attainable = min(gpu.tensor_tflops, cost.intensity * gpu.bandwidth_tb_s)
    return {
        "gpu": gpu.name,
        "intensity": cost.intensity,
        "ridge": gpu.ridge,
        "bound": "compute" if cost.intensity >= gpu.ridge else "memory",
        "attainable_tflops": attainable,
        "peak_share": attainable / gpu.tensor_tflops,
        "time_us": cost.flops / (attainable * 1e12) * 1e6,
    }


def print_intensity_table(seq_len: int = 4096) -> None:
    """Intensity of the phases of a Llama-size layer (32 heads of 128) on an H100."""
    h100 = TENSOR_CORE_GPUS[-1]
    cases = [
        ("decode MHA", decode_cost(seq_len, 32, 32, 128), 1),
        ("decode GQA-4", decode_cost(seq_len, 32, 8, 128), 4),
        ("decode MQA", decode_cost(seq_len, 32, 1, 128), 32),
        ("decode MHA, batch 64", decode_cost(seq_len, 32, 32, 128, batch_size=64), 1),
        ("linear, 1 token", linear_cost(1, 4096, 4096), 1),
        ("linear, 512 tokens", linear_cost(512, 4096, 4096), 512),
        ("prefill MHA", prefill_cost(seq_len, 32, 32, 128), 128),
    ]
    print(f"  {'phase':<22} {'FLOP/byte':>10} {'bound':>8} {'of peak':>8} {'MMA rows':>9}")
    for name, cost, rows in cases:
        row = roofline(cost, h100)
        print(
            f"  {name:<22} {row['intensity']:>10.1f} {row['bound']:>8} "
            f"{row['peak_share']:>8.1%} {tensor_core_usage(rows):>9.1%}"
        )


if __name__ == "__main__":
    for kernel_name, code in KERNELS.items():
        print(f"=== {kernel_name} ==={code}")
    for device in TENSOR_CORE_GPUS:
        print(f"{device.name}: ridge at {device.ridge:.0f} FLOPs per byte")
    print_intensity_table()
