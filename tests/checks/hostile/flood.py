"""Resource attack: a gigabyte of output."""

import os

line = b"x" * 65_535 + b"\n"
for _ in range(16_384):
    os.write(1, line)
os.write(1, b"last words\n")
