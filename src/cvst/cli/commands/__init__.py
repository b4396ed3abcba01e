"""The commands: options of each, and what it does."""
