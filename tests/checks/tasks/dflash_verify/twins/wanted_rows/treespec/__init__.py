"""Tree verification for speculative decoding (DFlash-style drafts)."""

from .target import TinyTarget, greedy_decode
from .topology import build_tree_mask, node_depths
from .verify import Verdict, verify_and_accept
