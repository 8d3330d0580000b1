"""The built-in horse."""
