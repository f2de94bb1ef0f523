"""What the listed CuPy has; ``list_names.py`` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAMES: dict[str, Any] = json.loads(Path(__file__).with_name("names.json").read_text())
