"""What ``judge-tui.toml`` at the root of a workspace says, which may name it and its models.

As in::

    title = "Round 3"

    [aliases]
    kimi = "kimi-k2.6"

    [models."kimi-k2.6"]
    title = "Kimi K2.6"

    [blind]
    always = true          # every comparison is judged blind
    also = ["Moonshot"]    # more words that would tell a model
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from judge_tui.judging.document import Table

__all__ = ["CONFIG", "Settings", "settings_of"]

CONFIG = "judge-tui.toml"


class Settings(Struct, frozen=True):
    """What ``judge-tui.toml`` says.

    Attributes:
        title: The workspace's name.
        aliases: Other spelling → folder name of a model or task.
        titles: Folder name of a model → display name.
        blind: Whether every comparison is judged blind.
        also_hidden: Words that are hidden with the names while one is.
    """

    title: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    blind: bool = False
    also_hidden: tuple[str, ...] = ()


def settings_of(document: Table) -> Settings:
    """The settings that a file says.

    Raises:
        WorkspaceError: It is malformed; with the line.
    """
    aliases = document.table("aliases")
    models = document.table("models")
    titles = {name: models.table(name).string("title", "") for name in models.raw}
    blind = document.table("blind")
    return Settings(
        document.string("title", ""),
        {alias: aliases.string(alias) for alias in aliases.raw},
        {name: title for name, title in titles.items() if title},
        blind.boolean("always"),
        blind.strings("also"),
    )
