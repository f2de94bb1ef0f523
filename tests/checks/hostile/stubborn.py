"""Resource attack: ignore every signal that can be ignored, and never come back."""

import os
import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError, RuntimeError):
        pass
os.write(1, b"settled in\n")
while True:
    pass
