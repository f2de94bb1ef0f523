"""Jobs: checks of one submission, described so that any machine can do them, and who does them here."""
