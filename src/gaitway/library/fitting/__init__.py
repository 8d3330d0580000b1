"""Clips of a library fitted to the flights of stairs and the blocks of one place."""
