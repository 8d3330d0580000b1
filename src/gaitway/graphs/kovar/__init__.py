"""Motion graphs (Kovar, Gleicher and Pighin 2002)."""
