"""Decoders over a KV cache: found, run, and held against what their weights and caches foretell."""
