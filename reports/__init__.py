"""Reports as documents: Markdown, HTML, and data. What stands in them is made by ``judging.summaries``."""
