"""Names of models, hidden in any text."""
