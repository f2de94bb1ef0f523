"""Words of names that tell no model apart."""

from __future__ import annotations

__all__ = ["COMMON"]

#: Code is full of them, too.
_WORDS = """
agent air answer author auto base baseline candidate chat code coder dev distill draft exp
experimental fast final flash group high human instruct large latest lite local low max medium micro
mini model models moe nano new next old open plus preview pro quant reasoner reasoning reference
round run small solution student submission team test the thinking tiny turbo ultra version vision
"""
COMMON = frozenset(_WORDS.split())
