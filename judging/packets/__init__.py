"""Packets: what a language model needs to judge as a person does, and what its answer means. No network."""
