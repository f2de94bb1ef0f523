"""Resource attack: fork until nothing is left, then start threads until nothing is left."""

import os
import threading
import time

for _ in range(64):  # a bound, for the tester's machine were the sandbox broken
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        break
    os.write(1, b"SPOIL fork\n")
started = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        started += 1
except (RuntimeError, MemoryError):
    pass
os.write(1, f"threads {started}\n".encode())
os._exit(7)
