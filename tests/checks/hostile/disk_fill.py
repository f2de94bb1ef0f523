"""Resource attack: fill the disk, by one huge file, many files, and files that have no name."""

import os
import tempfile
import time

chunk = bytes(1 << 20)


def fill(descriptor):
    written = 0
    try:
        while written < 400 << 20:
            written += os.write(descriptor, chunk)
    except OSError:
        return written


with open("huge", "wb", buffering=0) as stream:
    huge = fill(stream.fileno())
os.write(1, f"huge {huge >> 20} MiB\n".encode())
if huge > 64 << 20:
    os.write(1, b"SPOIL a huge file\n")
total = huge
for index in range(20):
    try:
        with open(f"many-{index}", "wb", buffering=0) as stream:
            total += fill(stream.fileno())
    except OSError:
        break
os.write(1, f"many {total >> 20} MiB\n".encode())
time.sleep(1)
os._exit(9)
