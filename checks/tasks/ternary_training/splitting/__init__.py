"""Parts of a split that are cut out of two different orders of one whole, as the source has it.

The source is followed, and nothing of it is run. Of every sequence is known out of what whole it comes, in
which order that stood and where it was cut (:mod:`.rows`); what cannot be told is a whole of its own, of
which nothing follows. A held-out part and one that is trained on share elements by chance where they come of
one whole by two orders.
"""
