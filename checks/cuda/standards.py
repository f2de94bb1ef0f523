"""The edition of C++ that a submission is written in, as its own build files and comments say."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["NVCC_DEFAULT", "stated"]

#: What nvcc takes where nothing is said.
NVCC_DEFAULT = 17
_NEWEST = 20
_STATED = re.compile(
    rb"-std[= ](?:c|gnu)\+\+(\d\d|2a)\b"
    rb"|\bCMAKE_(?:CUDA|CXX)_STANDARD[ \t]+(\d\d)\b"
    rb"|\b(?:CUDA|CXX)_STANDARD[ \t]+(\d\d)\b"
    rb"|\b(?:cuda|cxx)_std_(\d\d)\b"
)


def stated(files: Iterable[bytes]) -> int:
    """The newest edition that is asked for, nvcc's own at least.

    An older one is not held to: what it accepts, nvcc's own accepts as well, but for oddities.

    Args:
        files: Contents of all files of a submission: sources, build files and texts.

    Returns:
        17 or 20, as in C++17.
    """
    said = (next(filter(None, groups)) for data in files for groups in _STATED.findall(data))
    years = {20 if word == b"2a" else int(word) for word in said}
    # 98 and 03 are older than 11
    return max([NVCC_DEFAULT, *(min(year, _NEWEST) for year in years if year < 90)])
