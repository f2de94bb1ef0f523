"""A page as a reader of its tags meets it."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["Page"]


class Page(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def anchors(self) -> list[str]:
        """What links of this page can end in."""
        return [attributes["id"] or "" for _, attributes in self.tags if "id" in attributes]

    @property
    def links(self) -> list[str]:
        """What its links lead to."""
        return [
            attributes["href"] or "" for tag, attributes in self.tags if tag == "a" and "href" in attributes
        ]
