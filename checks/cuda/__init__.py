"""CUDA sources without a task: read, repaired, compiled, described."""
