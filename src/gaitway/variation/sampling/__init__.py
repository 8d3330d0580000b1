"""New motion drawn from a learnt model, and constraints on it (Lau 2009, sections 5.4 and 5.5)."""
