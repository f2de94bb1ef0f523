"""The only code that runs beside a submission: load, call, hand raw bytes back.

Inside the sandbox this folder is a package of its own (``judge_worker``), so it uses
relative imports, NumPy, msgspec and the standard library, and nothing else. It knows
no expected value and never says "pass".
"""
