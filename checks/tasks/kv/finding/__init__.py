"""Finding what plays which role: candidates by name, short runs that settle which are meant, and the rest."""
