"""The tasks: a contract, references and checks each; what kv needs to find its caches is layered within."""
