"""How a grown tree answers a query (Lau 2009, section 4.5)."""
