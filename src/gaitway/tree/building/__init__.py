"""How search trees are grown (Lau 2009, sections 4.2 and 4.3)."""
