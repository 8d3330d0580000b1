"""Takes as files that other programs open."""
