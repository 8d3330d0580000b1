"""Errands: people who do one thing after another; who does what next, and plans for it."""
