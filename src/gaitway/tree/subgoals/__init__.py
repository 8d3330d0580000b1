"""Distant goals: a coarse path, sub-goals along it, and a tree query from each to the next (Lau 2009, section 4.6)."""
