# A report: one dict with the bytes of a token, the context that fits and what else one may want to know.
# only: memory_model
WIDTHS = {"fp32": 4, "fp16": 2, "bf16": 2}


def memory_report(num_layers, num_kv_heads, head_dim, storage="fp16", gpu_bytes=24 * 1024**3, weight_bytes=0):
    per_token = 2 * num_layers * num_kv_heads * head_dim * WIDTHS[storage]
    free = max(0, gpu_bytes - weight_bytes)
    return {
        "bytes_per_token": per_token,
        "max_context": free // per_token,
        "free_gib": free / 1024**3,
        "storage": storage,
    }


def print_memory_report(*sizes):
    for name, value in memory_report(*sizes).items():
        print(f"{name:>20} {value}")
