"""Finding a submission's cache: candidates by name, short runs that settle which are meant, and the rest."""
