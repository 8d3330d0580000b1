"""The built-in cast: characters whose motion is generated, never captured frames."""
