"""The built-in person."""
