"""Hidden names: what may be shown, and what covers the rest."""
