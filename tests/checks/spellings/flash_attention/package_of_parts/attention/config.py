from typing import NamedTuple


class TileConfig(NamedTuple):
    rows: int = 64
    cols: int = 64
