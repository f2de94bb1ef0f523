"""Reading what training runs write: JSON, JSON lines, CSV, Markdown tables and plain lines of text.

Whatever a file looks like, what it says becomes tables (:mod:`.tables`): rows that were taken together, and
columns that have names. Which column is a loss is told by names and by numbers (:mod:`.columns`), so that a
step, a time or another quantity that stands under the word "loss" is not taken for one.
"""
