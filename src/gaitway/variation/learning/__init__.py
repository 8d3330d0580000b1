"""Learning of a model from takes (Lau 2009, sections 5.2 and 5.3), calibrated by sampling from it."""
