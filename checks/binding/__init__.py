"""Which callable of a submission plays which role, and how it is called."""
