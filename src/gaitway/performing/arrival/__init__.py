"""Exact arrival: the last steps of a plan are bent so that it ends where it was asked to."""
