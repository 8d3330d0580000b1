"""Plans of live characters: trees, routes, sub-goals, and searches for those who are stuck (Lau 2009, algorithm 4)."""
