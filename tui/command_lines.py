"""The palette's commands, one in a line: its name, and its key behind it."""

from __future__ import annotations

from textual.command import DiscoveryHit, Hit, Hits
from textual.content import Content
from textual.system_commands import SystemCommandsProvider

__all__ = ["CommandLines"]


class CommandLines(SystemCommandsProvider):
    """What the app has in its palette, in the order in which it tells it: the part in focus first."""

    async def discover(self) -> Hits:
        for title, told, callback, discover in self.app.get_system_commands(self.screen):
            if discover:
                yield DiscoveryHit(_line(title, told), callback, text=title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, told, callback, _ in self.app.get_system_commands(self.screen):
            if (match := matcher.match(title)) > 0:
                yield Hit(match, _line(matcher.highlight(title), told), callback, text=title)


def _line(title: str | Content, told: str) -> Content:
    """A command's name, and what is told of it: ``key: x``, or a sentence."""
    return Content.assemble(title, "  ", (told.removeprefix("key: "), "$foreground 78% not bold"))
