"""How people vary: learnt from a few takes, sampled without end (Lau 2009, chapters 5 and 6)."""
