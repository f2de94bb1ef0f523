"""What each task asks for, in words: ``<task>.md``, as a person or a model would be asked."""
