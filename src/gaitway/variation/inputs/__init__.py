"""Takes that a model is learnt from: cutting, selecting and checking them (Lau 2009, section 5.7)."""
